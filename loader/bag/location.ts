/** The location of an adresseerbaar object, from the geometry that the register has of it. */

/** Metres in EPSG:28992. */
export type Locatie = { x: number; y: number };

type Ring = { isHole: boolean; points: Locatie[] };
type Open = { name: string; isRd: boolean; dimension: number; text: string };

/** The elements that each element may hold; the first is `Objecten:geometrie` itself. */
const children: Record<string, readonly string[]> = {
  '': ['Objecten:punt', 'Objecten:vlak', 'gml:Polygon'],
  'Objecten:punt': ['gml:Point'],
  'Objecten:vlak': ['gml:Polygon'],
  'gml:Point': ['gml:pos', 'gml:coordinates'],
  'gml:Polygon': ['gml:exterior', 'gml:interior'],
  'gml:exterior': ['gml:LinearRing'],
  'gml:interior': ['gml:LinearRing'],
  'gml:LinearRing': [
    'gml:posList',
    'gml:pos',
    'gml:coordinates',
    'gml:pointProperty',
    'gml:pointRep',
  ],
  'gml:pointProperty': ['gml:Point'],
  'gml:pointRep': ['gml:Point'],
};
const positions = ['gml:pos', 'gml:posList', 'gml:coordinates'];
/** What GML lets any geometry say about itself. */
const description =
  /<gml:(name|description|descriptionReference|identifier|metaDataProperty)(?: [^>]*)?>.*?<\/gml:\1>/gs;

const token = /<(\/?)([^ >]+)([^>]*)>|[^<]+/g;
const blank = /^[ \t\r\n]*$/;
const coordinate = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const rd =
  /^(?:urn:(?:x-)?ogc:def:crs:EPSG:[\d.]*:|EPSG:|https?:\/\/www\.opengis\.net\/(?:def\/crs\/EPSG\/[\d.]+\/|gml\/srs\/epsg\.xml#))28992$/;

/**
 * The location of a point, or the centroid of a polygon, to the centimetre; for any other geometry
 * a text that says why its location is unknown. `geometry` is XML as `SchemaParser` writes the
 * contents of an element, or as in a file from Kadaster. A polygon without an area, or with a
 * centroid outside its bounds, is located at the average of its corners.
 */
export function locationOf(geometry: string): Locatie | string {
  const open: Open[] = [{ name: '', isRd: false, dimension: 2, text: '' }];
  const rings: Ring[] = [];
  const points: Locatie[] = [];
  let polygons = 0;
  let ring = [] as Locatie[];
  for (const [text, slash, name = '', attributes = ''] of geometry
    .replace(description, '')
    .matchAll(token)) {
    const parent = open.at(-1) as Open;
    if (!name) {
      parent.text += text;
    } else if (!slash) {
      if (!children[parent.name]?.includes(name)) return `an unexpected ${name}`;
      const srsName = srsNameIn(attributes);
      if (srsName !== undefined && !rd.test(srsName)) {
        return `coordinates in ${srsName}, not in EPSG:28992`;
      }
      const dimension = Number(srsDimensionIn(attributes) ?? parent.dimension);
      if (dimension !== 2 && dimension !== 3) return `coordinates of ${dimension} dimensions`;
      if (name === 'gml:Polygon') polygons++;
      open.push({ name, isRd: parent.isRd || srsName !== undefined, dimension, text: '' });
    } else {
      open.pop();
      const holder = open.at(-1)?.name;
      if (positions.includes(name)) {
        const found = pointsOf(parent);
        if (typeof found === 'string') return found;
        if ((name === 'gml:pos' || holder === 'gml:Point') && found.length !== 1) {
          return `a ${name.slice('gml:'.length)} of ${found.length} points`;
        }
        if (open.some((element) => element.name === 'gml:LinearRing')) ring = ring.concat(found);
        else {
          points.push(...found);
        }
      } else if (!blank.test(parent.text)) return `text in ${name}`;
      if (name === 'gml:LinearRing') {
        const first = ring[0];
        const last = ring.at(-1);
        if (ring.length < 4 || first?.x !== last?.x || first?.y !== last?.y) {
          return 'a ring that is not closed';
        }
        rings.push({ isHole: holder === 'gml:interior', points: ring });
        ring = [];
      }
    }
  }
  if (!blank.test(open[0]?.text ?? '')) return 'text instead of a geometry';
  const outer = rings.filter(({ isHole }) => !isHole);
  const isOnePoint = points.length === 1 && polygons === 0;
  const isOnePolygon = points.length === 0 && polygons === 1 && outer.length === 1;
  if (!isOnePoint && !isOnePolygon) return 'neither one point nor one polygon';
  const location = isOnePoint ? (points[0] as Locatie) : centroid((outer[0] as Ring).points, rings);
  return isInGrid(location) ? location : `at ${location.x} ${location.y}, outside the Netherlands`;
}

/** Whether a location lies within the bounds of the Dutch grid (EPSG:28992). */
export function isInGrid({ x, y }: Locatie): boolean {
  return x >= -7_000 && x <= 300_000 && y >= 289_000 && y <= 629_000;
}

const [srsNameIn, srsDimensionIn] = ['srsName', 'srsDimension'].map((name) => {
  const pattern = new RegExp(`(?:^|\\s)${name}="([^"]*)"`);
  return (attributes: string) => (attributes === '' ? undefined : pattern.exec(attributes)?.[1]);
}) as [AttributeIn, AttributeIn];
type AttributeIn = (attributes: string) => string | undefined;

function pointsOf({ name, text, isRd, dimension }: Open): Locatie[] | string {
  if (!isRd) return 'coordinates without srsName';
  const between = name === 'gml:coordinates' ? /[ \t\r\n,]+/ : /[ \t\r\n]+/;
  const values = text.split(between).filter(Boolean);
  const wrong = values.find((value) => !coordinate.test(value) || !Number.isFinite(Number(value)));
  if (wrong !== undefined) return `the coordinate '${wrong.slice(0, 40)}'`;
  if (values.length === 0 || values.length % dimension !== 0) {
    return `${values.length} coordinates in ${dimension} dimensions`;
  }
  const points: Locatie[] = [];
  for (let i = 0; i < values.length; i += dimension) {
    points.push({ x: Number(values[i]), y: Number(values[i + 1]) });
  }
  return points;
}

/**
 * The average place of a polygon with `outer` for its outline, weighted by area; holes do not
 * count.
 */
function centroid(outer: readonly Locatie[], rings: readonly Ring[]): Locatie {
  const origin = outer[0] as Locatie; // near the polygon, where products of coordinates keep their centimetres
  let area = 0;
  let x = 0;
  let y = 0;
  for (const { isHole, points } of rings) {
    let ringArea = 0;
    let ringX = 0;
    let ringY = 0;
    for (let i = 1; i < points.length; i++) {
      const a = points[i - 1] as Locatie;
      const b = points[i] as Locatie;
      const ax = a.x - origin.x;
      const ay = a.y - origin.y;
      const bx = b.x - origin.x;
      const by = b.y - origin.y;
      const cross = ax * by - bx * ay;
      ringArea += cross / 2;
      ringX += ((ax + bx) * cross) / 6;
      ringY += ((ay + by) * cross) / 6;
    }
    const sign = ringArea < 0 !== isHole ? -1 : 1; // rings may run either way
    area += sign * ringArea;
    x += sign * ringX;
    y += sign * ringY;
  }
  const found = { x: origin.x + x / area, y: origin.y + y / area };
  const leastArea = 1e-3;
  if (area >= leastArea && isWithin(found, outer)) return centimetres(found);
  const corners = outer.slice(1);
  const sum = (axis: 'x' | 'y') => corners.reduce((total, corner) => total + corner[axis], 0);
  return centimetres({ x: sum('x') / corners.length, y: sum('y') / corners.length });
}

function isWithin({ x, y }: Locatie, outer: readonly Locatie[]): boolean {
  const isBetween = (value: number, values: number[]) =>
    value >= least(values) && -value >= least(values.map((v) => -v));
  return (
    isBetween(
      x,
      outer.map((point) => point.x),
    ) &&
    isBetween(
      y,
      outer.map((point) => point.y),
    )
  );
}

/** `Math.min(...values)` fails for a hundred thousand values. */
function least(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

function centimetres({ x, y }: Locatie): Locatie {
  return { x: Math.round(x * 100) / 100, y: Math.round(y * 100) / 100 };
}
