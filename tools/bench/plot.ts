import type { Plot } from './benchmark.ts';

const width = 720;
const labelWidth = 260;
const barHeight = 22;
const gap = 10;
const top = 44;

/**
 * The plot as an SVG of its own: horizontal bars from zero, the reference in grey, each with its
 * value.
 */
export function renderPlot({ title, unit, bars }: Plot): string {
  const most = Math.max(...bars.map(({ value }) => value), 0);
  const scale = most > 0 ? (width - labelWidth - 110) / most : 0;
  const rows = bars.map(({ label, value, isReference }, index) => {
    const y = top + index * (barHeight + gap);
    const length = Math.max(1, value * scale);
    return [
      `<text x="${labelWidth - 8}" y="${y + 15}" text-anchor="end">${escaped(label)}</text>`,
      `<rect x="${labelWidth}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" fill="${isReference ? '#9aa3ad' : '#1f6feb'}"/>`,
      `<text x="${labelWidth + length + 6}" y="${y + 15}">${rounded(value)} ${escaped(unit)}</text>`,
    ].join('');
  });
  const height = top + bars.length * (barHeight + gap) + 8;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="12" y="24" font-size="15" font-weight="bold">${escaped(title)}</text>`,
    ...rows,
    '</svg>',
    '',
  ].join('\n');
}

function rounded(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en', { maximumFractionDigits: 3 });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
