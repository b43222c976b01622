import type { Command } from 'commander';
import { addAccountCommands } from './account.ts';
import { addDoctorCommand } from './doctor.ts';
import { addKeyCommands } from './key.ts';
import { addLoadCommands } from './load.ts';
import { addPlanCommands } from './plan.ts';
import type { Terminal } from './terminal.ts';

/** Adds a group of commands to the command line. It loads what is slow to load only when a command runs. */
export type AddCommands = (program: Command, terminal: Terminal) => void;

/** All commands, in the order of the help. */
export const commands: AddCommands[] = [
  addPlanCommands,
  addAccountCommands,
  addKeyCommands,
  addLoadCommands,
  addDoctorCommand,
];
