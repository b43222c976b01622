/**
 * The generators that install from the registry and run under Node, by the name of their example in
 * `docs/examples/generated-client`, whose first line is the command that generates the client.
 */
export const generators: Record<string, { packages: string[]; note: string }> = {
  'swagger-typescript-api': {
    packages: ['swagger-typescript-api'],
    note: 'one file that imports nothing; `include` with two names needs the override in the example',
  },
  'openapi-typescript': {
    packages: ['openapi-typescript', 'openapi-fetch'],
    note: 'types only; openapi-fetch leaves out members that are always `null` and needs an option for lists with commas',
  },
  'hey-api': {
    packages: ['@hey-api/openapi-ts'],
    note: 'a folder of files that import nothing else',
  },
  oazapfts: { packages: ['oazapfts', '@oazapfts/runtime'], note: 'a function for each operation' },
  orval: { packages: ['orval'], note: 'its configuration sets the base URL' },
  'openapi-zod-client': {
    packages: ['openapi-zod-client'],
    note: 'problems have types only with `--media-type-expr`; checks responses with zod 3; needs an option for lists with commas',
  },
};
