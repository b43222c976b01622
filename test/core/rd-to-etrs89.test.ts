import { describe, expect, it } from '@jest/globals';
import { etrs89OfRd } from '../../core/rd-to-etrs89.ts';

/**
 * Points that NSGI (Kadaster, Rijkswaterstaat and the Hydrographic Service) publishes with
 * RDNAPTRANS to check implementations of it, all within the area of its correction grid.
 */
const published: [name: string, x: number, y: number, lat: number, lon: number][] = [
  ['Texel', 117_380.12, 575_040.34, 53.160753042, 4.824761912],
  ['Noord-Groningen', 247_380.56, 604_580.78, 53.41948205, 6.776726674],
  ['Amersfoort', 155_000, 463_000, 52.155172897, 5.387203657],
  ['Zeeuws-Vlaanderen', 16_460.91, 377_380.23, 51.368607152, 3.397588595],
  ['Zuid-Limburg', 182_260.45, 311_480.67, 50.792584916, 5.773795548],
  ['Maasvlakte', 64_640.89, 440_700.0101, 51.947393898, 4.072887101],
];

const metresPerDegree = 111_200;

describe('latitude and longitude of a point in the national grid', () => {
  it.each(published)('are within 0.25 m of the published ones of %s', (_, x, y, lat, lon) => {
    const found = etrs89OfRd({ x, y });
    const east = (found.lon - lon) * Math.cos((lat * Math.PI) / 180);
    expect(Math.hypot(found.lat - lat, east) * metresPerDegree).toBeLessThan(0.25);
  });

  it('have at most 7 decimals', () => {
    for (let x = 13_600; x < 277_000; x += 7_919.3) {
      const { lat, lon } = etrs89OfRd({ x, y: 306_900 + x });
      expect(`${lat} ${lon}`).toMatch(/^5\d\.\d{1,7} \d\.\d{1,7}$/);
    }
  });
});
