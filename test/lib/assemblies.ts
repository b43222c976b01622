import { folderForNow } from '../support/folder-for-now.ts';

/**
 * The folder of the assemblies that a test file synthesizes. A test file has to import this before
 * its first test starts.
 */
export const assemblies = folderForNow('bag-adres-synth-');
