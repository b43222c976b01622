// The log lines of the Lambdas drown the report of the tests; the tests that read them turn them on
// again.
process.env.POWERTOOLS_METRICS_DISABLED ??= 'true';
process.env.POWERTOOLS_LOG_LEVEL ??= 'SILENT';
// The CDK's own check of a template takes seconds; `npm run synth` and the judge `nag` have it.
process.env.CDK_VALIDATION ??= 'false';
