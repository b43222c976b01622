import * as fc from 'fast-check';

// A counterexample kills a change; making it smaller only takes time.
fc.configureGlobal({ endOnFailure: true });
