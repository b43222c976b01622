import Environment from '../../test/support/environment.js';

/**
 * One failed test kills a change, so the others of its file are skipped: but for those that a
 * failed hook has failed already, without which nothing would have failed.
 */
export default class StopAtFailure extends Environment {
  #failed = false;

  handleTestEvent(event) {
    if (event.name === 'test_fn_failure' || event.name === 'hook_failure') this.#failed = true;
    const isDecided = event.name === 'test_start' && this.#failed && event.test.errors.length === 0;
    if (isDecided) event.test.mode = 'skip';
  }
}
