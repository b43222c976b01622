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
