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
    note: 'types only; those of openapi-fetch leave out members that are always `null`; it must be told that lists have commas',
  },
  'hey-api': { packages: ['@hey-api/openapi-ts'], note: 'a folder of files that import nothing else' },
  oazapfts: { packages: ['oazapfts', '@oazapfts/runtime'], note: 'a function for each operation' },
  orval: { packages: ['orval'], note: 'its configuration says where the base URL comes from' },
  'openapi-zod-client': {
    packages: ['openapi-zod-client'],
    note: 'problems have types only with `--media-type-expr`; checks what it receives with zod 3; it must be told that lists have commas',
  },
};
