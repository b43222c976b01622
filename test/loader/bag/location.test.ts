import { describe, expect, it } from '@jest/globals';
import { locationOf } from '../../../loader/bag/location.ts';
import { inSweep } from '../../support/in-sweep.ts';

const rd = 'srsName="urn:ogc:def:crs:EPSG::28992"';
const point = (pos: string, attributes = `${rd} srsDimension="2"`) =>
  `<Objecten:punt><gml:Point ${attributes}><gml:pos>${pos}</gml:pos></gml:Point></Objecten:punt>`;
const ring = (name: string, list: string) =>
  `<gml:${name}><gml:LinearRing><gml:posList>${list}</gml:posList></gml:LinearRing></gml:${name}>`;
const polygon = (rings: string, attributes = `${rd} srsDimension="2"`) =>
  `<gml:Polygon ${attributes}>${rings}</gml:Polygon>`;
/**
 * A square of `size` metres whose lowest corner is at 100,000 + `x`, 400,000 + `y`, in either
 * direction.
 */
const square = (x: number, y: number, size: number, isReversed = false) => {
  const left = 100_000 + x;
  const low = 400_000 + y;
  const right = 100_000 + x + size;
  const high = 400_000 + y + size;
  const corners = [
    `${left} ${low}`,
    `${right} ${low}`,
    `${right} ${high}`,
    `${left} ${high}`,
    `${left} ${low}`,
  ];
  return (isReversed ? corners.reverse() : corners).join(' ');
};
const outline = ring('exterior', square(0, 0, 10));

describe('locationOf', () => {
  it.each([
    ['a point', point('131009.0 482405.25'), { x: 131009, y: 482405.25 }],
    [
      'a point of three dimensions',
      point('1.31E5 482405 0.0', `${rd} srsDimension="3"`),
      { x: 131000, y: 482405 },
    ],
    ['a point among white space', point('\n 131000\t482405 '), { x: 131000, y: 482405 }],
    [
      'a dimension at the pos',
      point('1e5 4e5 2', rd).replace('<gml:pos', '$& srsDimension="3"'),
      { x: 1e5, y: 4e5 },
    ],
    ['a square', polygon(outline), { x: 100_005, y: 400_005 }],
    [
      'a square that runs the other way',
      polygon(ring('exterior', square(0, 0, 10, true))),
      { x: 100_005, y: 400_005 },
    ],
    ['a vlak', `<Objecten:vlak>${polygon(outline)}</Objecten:vlak>`, { x: 100_005, y: 400_005 }],
    // (10 * 10 * 5 - 4 * 4 * 8) / (10 * 10 - 4 * 4)
    [
      'a square with a hole',
      polygon(outline + ring('interior', square(6, 6, 4))),
      { x: 100_004.43, y: 400_004.43 },
    ],
    [
      'a hole that runs the other way',
      polygon(outline + ring('interior', square(6, 6, 4, true))),
      { x: 100_004.43, y: 400_004.43 },
    ],
    [
      'a polygon of three dimensions',
      polygon(
        ring('exterior', '1e5 4e5 1 100006 4e5 2 1e5 400003 3 1e5 4e5 1'),
        `${rd} srsDimension="3"`,
      ),
      { x: 100_002, y: 400_001 },
    ],
    [
      'corners as single positions',
      polygon(
        `<gml:exterior><gml:LinearRing>${['1e5 4e5', '100006 4e5', '1e5 400003', '1e5 4e5']
          .map((pos) => `<gml:pos>${pos}</gml:pos>`)
          .join('')}</gml:LinearRing></gml:exterior>`,
      ),
      { x: 100_002, y: 400_001 },
    ],
    [
      'gml:coordinates',
      polygon(
        ring('exterior', '1e5,4e5 100006,4e5 1e5,400003 1e5,4e5').replaceAll(
          'posList',
          'coordinates',
        ),
      ),
      { x: 100_002, y: 400_001 },
    ],
    [
      'a point of gml:coordinates',
      point('1e5,4e5').replaceAll('gml:pos>', 'gml:coordinates>'),
      { x: 1e5, y: 4e5 },
    ],
    [
      'corners that are points',
      polygon(
        `<gml:exterior><gml:LinearRing>${['1e5 4e5', '100006 4e5', '1e5 400003', '1e5 4e5']
          .map(
            (pos) =>
              `<gml:pointProperty><gml:Point><gml:pos>${pos}</gml:pos></gml:Point></gml:pointProperty>`,
          )
          .join('')}</gml:LinearRing></gml:exterior>`,
      ),
      { x: 100_002, y: 400_001 },
    ],
    [
      'a polygon with a name and a description',
      polygon(
        `<gml:description>vlak</gml:description><gml:name codeSpace="x">1 2</gml:name>${outline}`,
      ),
      { x: 100_005, y: 400_005 },
    ],
    [
      'a line: the average of its corners',
      polygon(ring('exterior', '1e5 4e5 100010 4e5 100020 4e5 1e5 4e5')),
      { x: 100_010, y: 4e5 },
    ],
    [
      'a figure of eight, whose halves cancel out',
      polygon(ring('exterior', '1e5 4e5 100010 400010 100010 4e5 1e5 400010 1e5 4e5')),
      { x: 100_005, y: 400_005 },
    ],
  ])('is, for %s, its centroid', (_, geometry, expected) => {
    expect(locationOf(geometry)).toEqual(expected);
  });

  it.each([
    'urn:ogc:def:crs:EPSG::28992',
    'urn:ogc:def:crs:EPSG:9.9.1:28992',
    'EPSG:28992',
    'http://www.opengis.net/def/crs/EPSG/0/28992',
    'http://www.opengis.net/gml/srs/epsg.xml#28992',
  ])('knows %s as the Dutch grid', (srsName) => {
    expect(locationOf(point('1e5 4e5', `srsName="${srsName}"`))).toEqual({ x: 1e5, y: 4e5 });
  });

  it.each([
    ['nothing', '', 'neither one point nor one polygon'],
    ['text', '131000 482405', 'text instead of a geometry'],
    [
      'another system',
      point('5.04 52.3', 'srsName="EPSG:4326"'),
      'coordinates in EPSG:4326, not in EPSG:28992',
    ],
    [
      'a system whose number is longer',
      point('1e5 4e5', 'srsName="EPSG:289921"'),
      'not in EPSG:28992',
    ],
    ['no system', point('1e5 4e5', 'srsDimension="2"'), 'without srsName'],
    [
      'another system within',
      polygon(outline.replace('<gml:posList', '$& srsName="EPSG:4326"')),
      'in EPSG:4326',
    ],
    ['a dimension of 4', point('1e5 4e5', `${rd} srsDimension="4"`), '4 dimensions'],
    ['no dimension', point('1e5 4e5', `${rd} srsDimension="two"`), 'NaN dimensions'],
    ['NaN', point('NaN 4e5'), "the coordinate 'NaN'"],
    ['infinity', point('1e999 4e5'), "the coordinate '1e999'"],
    ['a comma', point('131000,5 4e5'), "the coordinate '131000,5'"],
    ['hexadecimal', point('0x1ffff 4e5'), "the coordinate '0x1ffff'"],
    ['one coordinate', point('1e5'), '1 coordinates in 2 dimensions'],
    ['three in two dimensions', point('1e5 4e5 0'), '3 coordinates in 2 dimensions'],
    ['no coordinates', point(''), '0 coordinates'],
    ['a pos of two points', point('1e5 4e5 1e5 4e5'), 'a pos of 2 points'],
    ['two points', point('1e5 4e5') + point('1e5 4e5'), 'neither one point nor one polygon'],
    [
      'a point and a polygon',
      point('1e5 4e5') + polygon(outline),
      'neither one point nor one polygon',
    ],
    ['two outlines', polygon(outline + outline), 'neither one point nor one polygon'],
    ['two polygons', polygon(outline) + polygon(''), 'neither one point nor one polygon'],
    [
      'only a hole',
      polygon(ring('interior', square(0, 0, 1))),
      'neither one point nor one polygon',
    ],
    [
      'an open ring',
      polygon(ring('exterior', '1e5 4e5 100010 4e5 100010 400010 1e5 400010')),
      'not closed',
    ],
    [
      'a ring of two corners',
      polygon(ring('exterior', '1e5 4e5 100010 4e5 1e5 4e5')),
      'not closed',
    ],
    [
      'an empty ring',
      polygon('<gml:exterior><gml:LinearRing></gml:LinearRing></gml:exterior>'),
      'not closed',
    ],
    ['a multisurface', '<gml:MultiSurface></gml:MultiSurface>', 'an unexpected gml:MultiSurface'],
    [
      'an arc',
      polygon('<gml:exterior><gml:Ring></gml:Ring></gml:exterior>'),
      'an unexpected gml:Ring',
    ],
    ['a name that all objects have', '<constructor></constructor>', 'an unexpected constructor'],
    ['text within', polygon(`here${outline}`), 'text in gml:Polygon'],
    ['the sea', point('0 0'), 'at 0 0, outside the Netherlands'],
    [
      'x and y the wrong way round',
      point('482405 131009'),
      'at 482405 131009, outside the Netherlands',
    ],
  ])('tells why %s is no location', (_, geometry, why) => {
    expect(locationOf(geometry)).toEqual(expect.stringContaining(why));
  });

  inSweep('takes a polygon of 100,000 corners', () => {
    const corners = Array.from({ length: 100_000 }, (_, i) => {
      const angle = (2 * Math.PI * i) / 100_000;
      return `${150_000 + 100 * Math.cos(angle)} ${450_000 + 100 * Math.sin(angle)}`;
    });
    const list = [...corners, corners[0]].join(' ');
    expect(locationOf(polygon(ring('exterior', list)))).toEqual({ x: 150_000, y: 450_000 });
  });
});
