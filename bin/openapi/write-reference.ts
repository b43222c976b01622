import { readFile, writeFile } from 'node:fs/promises';
import { openApiDocument } from './document.ts';
import { withGeneratedParts } from './markdown.ts';

// `npm run openapi`: generates `docs/openapi.json` and parts of `docs/api.md`, and then formats the JSON.
const docs = new URL('../../docs/', import.meta.url);
const reference = new URL('api.md', docs);

await writeFile(new URL('openapi.json', docs), JSON.stringify(openApiDocument(), null, 2));
await writeFile(reference, withGeneratedParts(await readFile(reference, 'utf8')));
