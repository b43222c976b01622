import * as fc from 'fast-check';

// A counterexample kills a change; making it smaller only takes time.
fc.configureGlobal({ endOnFailure: true });

// Properties of which `npm test` tries a sample try enough here to find a counterexample.
process.env.SWEEP ??= 'mutants';
