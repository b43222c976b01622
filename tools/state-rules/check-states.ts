/**
 * Holds the state machine of the loader against the language service for Amazon States Language,
 * the second static validator: `npm run check:states`. It brings 38 packages, so `npm ci` does not
 * install it.
 */
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { toolPath } from '../../.ci/tools/installed.ts';
import { deployedLoader } from '../../test/loader/deployed-loader.ts';

type Document = { readonly text: unique symbol };
type Finding = { message: string; range: { start: { line: number } } };
type LanguageService = {
  TextDocument: { create(uri: string, language: string, version: number, text: string): Document };
  getLanguageService(options: object): {
    parseJSONDocument(document: Document): object;
    doValidation(document: Document, parsed: object): Promise<Finding[]>;
  };
};

const path = await toolPath('amazon-states-language-service/out/service.js');
const { default: asl } = (await import(pathToFileURL(path).href)) as { default: LanguageService };
const service = asl.getLanguageService({});

async function faultsOf(definition: object): Promise<string[]> {
  const document = asl.TextDocument.create(
    'definition.asl.json',
    'asl',
    1,
    JSON.stringify(definition, null, 2),
  );
  const found = await service.doValidation(document, service.parseJSONDocument(document));
  return found.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`);
}

const places = {
  table: 'addresses',
  bucket: 'snapshots',
  topic: 'arn:aws:sns:eu-west-1:111122223333:alarms',
};
const { definition } = await deployedLoader({}, places);
assert.notDeepEqual(
  await faultsOf({ ...(definition as object), StartAt: 'Nowhere' }),
  [],
  'A mistake is not found.',
);
const faults = await faultsOf(definition);
for (const fault of faults) console.error(`The state machine of the loader, ${fault}`);
console.log(`State machine of the loader: ${faults.length} faults.`);
process.exitCode = faults.length === 0 ? 0 : 1;
