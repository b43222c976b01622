import { SaxesParser } from 'saxes';
import { ExtractError } from './extract-error.ts';
import { schemaVersion } from './schema.ts';

/** The file in every delivery that says what it is. */
export const deliveryFile = 'Leveringsdocument-BAG-Extract.xml';

const levering = `http://www.kadaster.nl/schemas/lvbag/extract-levering/${schemaVersion}`;

/**
 * The date of the state (StandTechnischeDatum, `2021-10-15`) from a Leveringsdocument. Refuses another version of the
 * schema by its name, and every delivery that is not the full history (LVC): of mutations, or of one date.
 */
export function readPeildatum(xml: Buffer, file: string): string {
  const path: string[] = [];
  let schema = '';
  let variant = '';
  let peildatum = '';
  const parser = new SaxesParser({ xmlns: true });
  parser.on('opentag', (tag) => {
    if (path.length === 0) schema = tag.uri;
    path.push(tag.local);
    if (path.length === 3 && path[1] === 'SelectieGegevens' && tag.local.endsWith('-Extract')) variant = tag.local;
  });
  parser.on('text', (text) => {
    if (path.length === 4 && path[3] === 'StandTechnischeDatum') peildatum += text;
  });
  parser.on('closetag', () => path.pop());
  try {
    parser.write(xml.toString('utf8')).close();
  } catch (cause) {
    throw new ExtractError('invalid_xml', file, `not well-formed XML (${(cause as Error).message})`, { cause });
  }
  if (schema !== levering) throw unknownSchema(file, schema);
  if (variant === 'MUT-Extract') throw mutationDelivery(file);
  if (variant !== 'LVC-Extract') {
    throw new ExtractError('unknown_schema', file, `a delivery of kind ${variant || 'unknown'}; LVC-Extract is needed`);
  }
  const date = peildatum.trim();
  if (!isDate(date)) {
    throw new ExtractError('missing_peildatum', file, `its StandTechnischeDatum is no date: '${peildatum}'`);
  }
  return date;
}

/** Whether `text` is a day of the calendar, `2021-10-15`: callers get to see it. */
function isDate(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** The refusal of a file in a version of the schema that this program was not made for. */
export function unknownSchema(file: string, schema: string): ExtractError {
  const problem = `in schema '${schema}', not in version ${schemaVersion} of BAG 2.0, which is the only one read`;
  return new ExtractError('unknown_schema', file, `${problem}; get the current extract, or update this program`);
}

/** The refusal of a delivery of mutations. */
export function mutationDelivery(file: string): ExtractError {
  const problem = 'a delivery of mutations; give a full extract (lvbag-extract-nl.zip, BAGNLDL or BAGGEM)';
  return new ExtractError('mutation_delivery', file, problem);
}
