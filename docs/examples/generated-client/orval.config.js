/** The base URL is known when the program runs: the generated functions import it. */
const baseUrl = { runtime: 'apiUrl', imports: [{ name: 'apiUrl', importPath: './consumer.ts' }] };

export default {
  addresses: {
    input: 'openapi.json',
    output: { target: 'client.ts', client: 'fetch', baseUrl },
  },
};
