/** Runs the tests in the order in which they were named. */
export default class InOrder {
  #named;

  constructor({ globalConfig }) {
    this.#named = globalConfig.nonFlagArgs;
  }

  sort(tests) {
    const place = ({ path }) => this.#named.findIndex((name) => path.endsWith(name));
    return [...tests].sort((one, other) => place(one) - place(other));
  }

  cacheResults() {}
}
