import { SaxesParser } from 'saxes';
import { ExtractError } from '../load-error.ts';
import type { RandomAccess } from '../zip/random-access.ts';
import { readEntry, type ZipEntry } from '../zip/zip.ts';
import { schemaVersion, unknownSchema } from './schema.ts';
import { xsdDate } from './xsd-values.ts';

/**
 * Whether an entry is metadata that macOS adds to a zip: `__MACOSX/.../._9999NUM.xml` is binary
 * despite its name.
 */
export function isJunk(name: string): boolean {
  return name.startsWith('__MACOSX/') || baseName(name).startsWith('.');
}

export function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** The file in every delivery that describes it. */
export const deliveryFile = 'Leveringsdocument-BAG-Extract.xml';

/** A delivery's description of itself. Dates are `2021-10-15`, or `''` if the document has none. */
export type DeliveryDocument = {
  /** `LVC-Extract` for the state of the register, `MUT-Extract` for mutations. */
  variant: string;
  standTechnischeDatum: string;
  /** Only of mutations. */
  vanaf: string;
  tot: string;
  /** The codes of the gemeenten that it covers, in order; none for the whole country. */
  gemeenten: string[];
};

/**
 * Reads the Leveringsdocument, or `null`. @throws ExtractError, also for two documents or another
 * schema version
 */
export async function findDeliveryDocument(
  source: RandomAccess,
  entries: readonly ZipEntry[],
  label: string,
): Promise<DeliveryDocument | null> {
  const [delivery, other] = entries.filter(
    ({ name }) => baseName(name) === deliveryFile && !isJunk(name),
  );
  if (other) {
    const problem = `holds ${delivery?.name} and ${other.name}, so its peildatum is unknown; get the extract again`;
    throw new ExtractError('duplicate_member', label, problem);
  }
  if (!delivery) return null;
  const file = `${label} > ${deliveryFile}`;
  return readDeliveryDocument(await readEntry(source, delivery, file), file);
}

const levering = `http://www.kadaster.nl/schemas/lvbag/extract-levering/${schemaVersion}`;
const period = 'MUT-Extract/Mutatieperiode';
const gemeente = 'Gebied-Registratief/Gebied-GEM/GemeenteCollectie/Gemeente/GemeenteIdentificatie';

function readDeliveryDocument(xml: Buffer, file: string): DeliveryDocument {
  const path: string[] = [];
  const texts = new Map<string, string>();
  const gemeenten: string[] = [];
  let schema = '';
  let variant = '';
  const parser = new SaxesParser({ xmlns: true });
  parser.on('opentag', (tag) => {
    if (path.length === 0) schema = tag.uri;
    path.push(tag.local);
    if (path.length === 3 && path[1] === 'SelectieGegevens' && tag.local.endsWith('-Extract')) {
      variant = tag.local;
    }
    if (pathWithin(path) === gemeente) gemeenten.push('');
  });
  parser.on('text', (text) => {
    const at = pathWithin(path);
    texts.set(at, (texts.get(at) ?? '') + text);
    if (at === gemeente) gemeenten.push(`${gemeenten.pop()}${text}`);
  });
  parser.on('closetag', () => path.pop());
  try {
    parser.write(xml.toString('utf8')).close();
  } catch (cause) {
    throw new ExtractError(
      'invalid_xml',
      file,
      `not well-formed XML (${(cause as Error).message})`,
      { cause },
    );
  }
  if (schema !== levering) throw unknownSchema(file, schema);
  const dateOf = (name: string) => xsdDate(texts.get(name) ?? '') ?? texts.get(name)?.trim() ?? '';
  return {
    variant,
    standTechnischeDatum: dateOf(`${variant}/StandTechnischeDatum`),
    vanaf: dateOf(`${period}/MutatiedatumVanaf`),
    tot: dateOf(`${period}/MutatiedatumTot`),
    gemeenten: gemeenten.map((code) => code.trim()).sort(),
  };
}

function pathWithin(path: readonly string[]): string {
  return path[1] === 'SelectieGegevens' ? path.slice(2).join('/') : '';
}

/** Whether `text` is a day of the calendar, `2021-10-15`. */
export function isCalendarDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const dayMilliseconds = 86_400_000;

/**
 * Whether a date is more than a day ahead: after a dataset of such a date all others would count as
 * older.
 */
export function isFuture(date: string, now = Date.now()): boolean {
  return Date.parse(date) > now + dayMilliseconds;
}

/** The error for an extract or mutations of a date in the future. */
export function futureDelivery(date: string, label: string, now = Date.now()): ExtractError {
  const today = new Date(now).toISOString().slice(0, 10);
  const problem = `is of ${date}, which is in the future: today is ${today}. Check the clock, or get the file again`;
  return new ExtractError('future_peildatum', label, problem);
}

/** `the whole country`, or which municipalities. */
export function areaText(gemeenten: readonly string[]): string {
  if (gemeenten.length === 0) return 'the whole country';
  return `${gemeenten.length === 1 ? 'municipality' : 'the municipalities'} ${gemeenten.join(', ')}`;
}
