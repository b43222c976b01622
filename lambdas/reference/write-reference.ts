import { readFile, writeFile } from 'node:fs/promises';
import { openApiDocument } from './openapi/document.ts';
import { withProblemSection } from './problem-section.ts';

/** Makes `docs/openapi.json` and the problems in `docs/api.md` anew; `npm run openapi` formats the JSON after that. */
const docs = new URL('../../docs/', import.meta.url);
const reference = new URL('api.md', docs);

await writeFile(new URL('openapi.json', docs), JSON.stringify(openApiDocument(), null, 2));
await writeFile(reference, withProblemSection(await readFile(reference, 'utf8')));
