import { describe, expect, it } from '@jest/globals';
import { readableOn, styleSheet } from '../../portal/layout.ts';

describe('the colour of the company', () => {
  it.each(['#000000', '#ffffff', '#ffd400', '#0b4f8a', '#777777', '#00ff00', '#c01010', '#767676'])(
    'has readable text on it: %s',
    (colour) => {
      expect(contrast(colour, readableOn(colour))).toBeGreaterThanOrEqual(4.5);
      expect(styleSheet(colour)).toContain(`--brand:${colour};--on-brand:${readableOn(colour)}`);
    },
  );

  it.each([
    ['#0b4f8a', '#0b4f8a', '#8ab8ff'],
    ['#ffd400', '#0b4fb3', '#ffd400'],
    ['#777777', '#0b4fb3', '#8ab8ff'],
    ['#7a1fa2', '#7a1fa2', '#8ab8ff'],
  ])(
    'is that of links and charts where it can be read: %s is %s in the light and %s in the dark',
    (colour, light, dark) => {
      const style = styleSheet(colour);
      expect(style).toContain(`--link:${light};--bar:${light};`);
      expect(style).toContain(`{--link:${dark};--bar:${dark}}`);
      for (const ground of ['#ffffff', '#f3f5f8']) expect(contrast(light, ground)).toBeGreaterThanOrEqual(4.5);
      for (const ground of ['#1a222c', '#10161d']) expect(contrast(dark, ground)).toBeGreaterThanOrEqual(4.5);
    },
  );
});

function contrast(one: string, other: string): number {
  const luminance = (colour: string) => {
    const channel = (at: number) => {
      const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  };
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}
