import { keepCompiledCode } from './local/compile-cache.js';
import { requireNode } from './local/node-version.js';

requireNode();

// The processes that tests start, hundreds of them, find their modules compiled.
keepCompiledCode();

export default {
  testEnvironment: '<rootDir>/test/support/environment.js',
  testSequencer: '<rootDir>/test/support/sequencer.ts',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/strip-types.js' },
  // The suffix of a test file is its plan: examples, properties (fast-check), or fuzz.
  testMatch: ['<rootDir>/test/**/*.{test,property,fuzz}.ts'],
  globalSetup: '<rootDir>/test/support/shared-engines.ts',
  globalTeardown: '<rootDir>/test/support/stop-shared-engines.ts',
  setupFiles: ['<rootDir>/test/support/quiet.js'],
  moduleNameMapper: {
    // The package as a portal imports it, without building it first.
    '^bag-adres-admin$': '<rootDir>/packages/admin/index.ts',
  },
  modulePathIgnorePatterns: [
    '<rootDir>/cdk.out',
    '<rootDir>/.data',
    '<rootDir>/packages/admin/dist',
  ],
  // Twice the cores of a small machine: a worker often waits for other processes, browsers and
  // timers.
  maxWorkers: 4,
  // Only what hangs takes so long: a busy machine must not turn a test red.
  testTimeout: 300_000,
};
