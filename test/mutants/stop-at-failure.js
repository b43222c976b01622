import Environment from '../support/environment.js';

/** One failed test kills a change, so the others of its file are skipped. */
export default class StopAtFailure extends Environment {
  #failed = false;

  handleTestEvent(event) {
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') this.#failed = true;
    if (event.name === 'test_start' && this.#failed) event.test.mode = 'skip';
  }
}
