/*
 * The axes that a command takes, and their defaults.
 */
#include "command.h"
#include "../point/point.h"

bool command_has(const CommandInfo *command, unsigned traits)
{
    return (command->traits & traits) != 0;
}

bool command_takes_axes(const CommandInfo *command)
{
    return command->run != NULL && command->operands != OPERANDS_TABLES;
}

bool command_takes(const CommandInfo *command, Axis axis)
{
    unsigned roles = axis_info(axis)->roles;
    bool wanted = command->wanted == 0 || (roles & command->wanted) != 0;
    return command_takes_axes(command) && wanted && (roles & command->refused) == 0;
}

/* The command's own default of an axis, or NULL. */
static const AxisValue *own_default(const CommandInfo *command, Axis axis)
{
    for (size_t i = 0; i < command->own_count; i++) {
        if (command->own[i].axis == axis) {
            return &command->own[i].value;
        }
    }
    return NULL;
}

AxisValue command_standard(const CommandInfo *command, Axis axis)
{
    const AxisValue *own = own_default(command, axis);
    return own != NULL ? *own : axis_info(axis)->standard;
}

AxisValue command_default(const CommandInfo *command, const Point *point, Axis axis)
{
    bool own = own_default(command, axis) != NULL || axis_info(axis)->automatic;
    return own ? command_standard(command, axis) : point_default(point, axis);
}

bool command_takes_list(const CommandInfo *command, Axis axis)
{
    return !axis_info(axis)->scalar ||
           (command_has(command, SEARCHES_OMEGA) && axis == AXIS_TOLERANCE);
}

bool command_evaluates_points(const CommandInfo *command)
{
    return command->operands == OPERANDS_CASES;
}
