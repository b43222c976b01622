import { writeFile } from 'node:fs/promises';
import { openApiDocument } from './openapi/document.ts';

/** Writes `docs/openapi.json` anew; `npm run openapi` formats it after that. */
await writeFile(new URL('../../docs/openapi.json', import.meta.url), JSON.stringify(openApiDocument(), null, 2));
