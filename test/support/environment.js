import Module, { createRequire, flushCompileCache } from 'node:module';
import v8 from 'node:v8';
import vm from 'node:vm';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

// `npm test` gives this process a large young generation. The threads that it starts have a small
// heap of their own: with the flag, which reaches them too, they would collect garbage all the
// time.
v8.setFlagsFromString('--max-semi-space-size=0');

// V8 keeps what it has compiled, in case the same code is compiled again. By way of a module's code
// it keeps the module and, with it, all of its test file: a worker grew to 1.4 GB, in which
// collecting garbage and starting processes take several times as long.
v8.setFlagsFromString('--no-compilation-cache');

// V8 collects all garbage for every 64 MB of new buffers, however large the heap is. A worker holds
// 200 MB of packages, so this took a fifth of the CPU of the tests of loads. With the flag, buffers
// count like the rest of the heap.
v8.setFlagsFromString('--external-memory-accounted-in-global-limit');

// Jest warns of a worker that takes half a second to end, which freeing its heap does. For the same
// reason compiled code is written after each test file, not at the end.
process.once('beforeExit', () => process.exit());

const require = createRequire(import.meta.url);

const signer = require.resolve('@smithy/signature-v4');
const placeholder = require('./placeholder-signature.cjs');
require.cache[signer] = Object.assign(new Module(signer), { exports: placeholder, loaded: true });

/** Symbols by which packages find their global state again. */
const symbolsOfPackages = new Set();

/** A module of a package, loaded once for all test files of this process. */
function load(filename) {
  const before = new Set(Object.getOwnPropertySymbols(globalThis));
  const exports = require(filename);
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (!before.has(symbol)) symbolsOfPackages.add(symbol);
  return exports;
}

/** Jest's own modules keep the state of one test file. */
const isOfJest = (filename) => /\/node_modules\/(@jest\/|jest-|expect\/)/.test(filename);
const isShared = (filename) => filename.includes('/node_modules/') && !isOfJest(filename);

// Jest makes every module that it loads with these three. They ignore its context, which no module
// here runs in.
const { compileFunction, SourceTextModule, SyntheticModule } = vm;

vm.compileFunction = (code, parameters, { parsingContext: _, ...options } = {}) => {
  const { filename = '' } = options;
  if (isShared(filename)) {
    return (module) => {
      module.exports = load(filename);
    };
  }
  return isOfJest(filename)
    ? compileOnce(code, parameters, filename)
    : compileFunction(code, parameters, options);
};

/**
 * Jest's modules, by file: each test file runs them again, in the machine code that the former ones
 * led to.
 */
const compiled = new Map();

function compileOnce(code, parameters, filename) {
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const run =
    compiled.get(filename) ??
    compileFunction(code, parameters, { filename, importModuleDynamically });
  compiled.set(filename, run);
  return run;
}

vm.SourceTextModule = class extends SourceTextModule {
  constructor(code, { context: _, ...options } = {}) {
    if (!isShared(options.identifier ?? '')) {
      super(code, options);
      return;
    }
    const exports = load(options.identifier);
    const reexports = Object.keys(exports).map((name, index) => {
      const quoted = JSON.stringify(name);
      return `const export${index} = import.meta.exports[${quoted}]; export { export${index} as ${quoted} };`;
    });
    super(reexports.join('\n'), {
      ...options,
      initializeImportMeta: (meta) => Object.assign(meta, { exports }),
    });
  }
};

vm.SyntheticModule = class extends SyntheticModule {
  constructor(names, evaluate, { context: _, ...options } = {}) {
    super(names, evaluate, options);
  }
};

const context = vm.createContext();

/**
 * Jest's environment of Node without a context of its own: the test files of a worker run one after
 * the other in the global scope of its process, and each finds it as the first one did. A test file
 * has its own copies of the modules of this project; the modules of packages are loaded, and
 * compiled to machine code, once.
 */
export default class Environment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  #globals = descriptors(globalThis);
  #process = descriptors(process);
  #variables = { ...process.env };

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {
    // Jest records 100 frames for every error. The SDK and `expect` make one for every call.
    Error.stackTraceLimit = 20;
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    flushCompileCache();
    sinon()?.restore();
    restore(globalThis, this.#globals);
    restore(process, this.#process);
    for (const name of Object.keys(process.env))
      if (!(name in this.#variables)) delete process.env[name];
    Object.assign(process.env, this.#variables);
    // Jest keeps the state of a test file, its event handlers and its time-out, under symbols.
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (!this.#globals.has(symbol) && !symbolsOfPackages.has(symbol))
        Reflect.deleteProperty(globalThis, symbol);
    }
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return context;
  }
}

/** What aws-sdk-client-mock replaces methods of the SDK with, once a test file has loaded it. */
function sinon() {
  const { resolve } = createRequire(require.resolve('aws-sdk-client-mock'));
  return require.cache[resolve('sinon')]?.exports;
}

function descriptors(object) {
  return new Map(
    Reflect.ownKeys(object).map((key) => [key, Object.getOwnPropertyDescriptor(object, key)]),
  );
}

/** Gives changed properties their former value or accessor again. */
function restore(object, before) {
  for (const [key, descriptor] of before) {
    const now = Object.getOwnPropertyDescriptor(object, key);
    if (now?.configurable === false) continue;
    if (now?.value !== descriptor.value || now?.get !== descriptor.get)
      Object.defineProperty(object, key, descriptor);
  }
}
