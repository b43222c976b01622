import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's environment of Node with a plain global object. Jest makes its context of a proxy, and V8 asks that proxy for every
 * global that a test or the code under test reads (`Buffer`, `Math`, `Error`), which is a third of the time of a suite that computes much.
 */
export default class PlainEnvironment extends TestEnvironment {
  constructor(...options) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...options);
    } finally {
      vm.createContext = createContext;
    }
  }
}
