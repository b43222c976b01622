import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { validateXML } from 'xmllint-wasm';

/**
 * The schemas of the Kadaster, which are not part of this repository: skip what needs them where
 * they are missing.
 */
export const xsdFolder = '../shared/bag-samples/kadaster-xsd/lvbag-extract-20200928';

/**
 * One flat folder of schemas: their file names differ, so only the folders in what they import have
 * to go.
 */
const schemas = globSync(`${xsdFolder}/**/*.xsd`).map((path) => ({
  fileName: basename(path),
  contents: readFileSync(path, 'utf8').replace(/schemaLocation="[^"]*\//g, 'schemaLocation="'),
}));

/**
 * What is wrong with a file, or with several, by the schemas of the Kadaster; `schema` is the file
 * name of the one that they should follow. Most of the time goes into reading the schemas, so
 * several files take little longer than one.
 */
export async function schemaErrors(
  contents: string | readonly string[],
  schema = 'BagvsExtractDeelbestandExtractLvc-2.1.0.xsd',
): Promise<string[]> {
  const result = await validateXML({
    xml: [contents].flat().map((contents, index) => ({ fileName: `file-${index}.xml`, contents })),
    schema: schemas.filter(({ fileName }) => fileName === schema),
    preload: schemas.filter(({ fileName }) => fileName !== schema),
    maxMemoryPages: 4_096,
  });
  return result.errors.map(({ message }) => message);
}
