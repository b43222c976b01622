import v8 from 'node:v8';
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

// `npm test` gives this process a large young generation. The threads that it starts have a small heap of their own: with the
// flag, which reaches them too, they would collect garbage all the time.
v8.setFlagsFromString('--max-semi-space-size=0');

const { compileFunction, createContext } = vm;
const compiled = new Map();

/**
 * Compiles a module of a package once for all test files of this process; Jest compiles it again for each of them, which is
 * a fifth of the time of a short test file. Only the code is shared: it runs anew in the context of each test file. A dynamic import belongs
 * to the runtime of its test file, so code that may hold one is left to Jest.
 */
vm.compileFunction = (code, parameters, options) => {
  const { filename = '', parsingContext } = options ?? {};
  if (!parsingContext || !filename.includes('/node_modules/')) return compileFunction(code, parameters, options);
  const key = `${parameters}\n${filename}`;
  let known = compiled.get(key);
  if (known?.code !== code) {
    const isShared = !/\bimport\b\s*[(/]/.test(code);
    known = { code, script: isShared && new vm.Script(`(function (${parameters}) {${code}\n})`, { filename }) };
    compiled.set(key, known);
  }
  return known.script ? known.script.runInContext(parsingContext) : compileFunction(code, parameters, options);
};

/**
 * Jest's environment of Node with a plain global object. Jest makes its context of a proxy, and V8 asks that proxy for every
 * global that a test or the code under test reads (`Buffer`, `Math`, `Error`), which is a third of the time of a suite that computes much.
 */
export default class PlainEnvironment extends TestEnvironment {
  constructor(...options) {
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...options);
    } finally {
      vm.createContext = createContext;
    }
  }
}
