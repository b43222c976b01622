import { startEngine } from '../../../local/engine/engine.ts';

/**
 * The reference of `npm run bench -- start`: the bare server, with the engine on the database file
 * that is the argument. The engine ends with this process.
 */
const { endpoint } = await startEngine(process.argv[2]);
process.env.AWS_ENDPOINT_URL_DYNAMODB = endpoint;
await import('../local-parts/bare-server.ts');
