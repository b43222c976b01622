import { existsSync, readFileSync } from 'node:fs';
import type { Figures } from './benchmark.ts';

/** The recorded figures of a benchmark; `undefined` if no run of it is recorded. */
export type Recorded = (benchmark: string) => Figures | undefined;

/** A figure of a benchmark by its path, such as `address.total_cpu_ms`. */
type Figure = (path: string) => number;

/** One figure of the page beside its reference. */
type Row = {
  what: string;
  benchmark: string;
  /** The share of the country that the row is about. */
  share?: number;
  /** More options of the command, before the share. */
  options?: string;
  value: (figure: Figure) => number;
  /** The unit behind the value; a ratio has none. */
  unit?: string;
  /** More figures of the same run. */
  more?: (figure: Figure) => string;
  limit?: { atMost: number } | { atLeast: number };
  reference: (figure: Figure) => string;
};

/** What a lookup from `npm start` may take beside the bare server. */
const lookupCpu = 1.25;

const rows: readonly Row[] = [
  {
    what: 'a charged lookup, CPU',
    benchmark: 'request',
    value: (figure) => figure('cpu_ratio_to_bare'),
    more: (figure) => `${short(figure('cpu_ms_whole'))} ms`,
    limit: { atMost: 1.15 },
    reference: (figure) => `1: its two SDK calls alone (${short(figure('cpu_ms_bare'))} ms)`,
  },
  {
    what: 'a charged lookup, memory that it allocates',
    benchmark: 'request',
    value: (figure) => figure('allocated_ratio_to_bare'),
    reference: () => '1: its two SDK calls alone',
  },
  {
    what: 'a cold start of address, CPU',
    benchmark: 'cold-start',
    value: (figure) => figure('address.cpu_ratio_to_bare'),
    more: (figure) => `${short(figure('address.total_cpu_ms'))} ms`,
    limit: { atMost: 0.95 },
    reference: (figure) =>
      `1: a handler with only the SDK client, bundled with esbuild's defaults (${short(figure('bare.total_cpu_ms'))} ms)`,
  },
  {
    what: 'a cold start of address, CPU',
    benchmark: 'cold-start',
    value: (figure) => figure('address.cpu_ratio_to_bare_bundled_alike'),
    reference: (figure) =>
      `1: the same handler, bundled like our functions (${short(figure('bare_bundled_alike.total_cpu_ms'))} ms)`,
  },
  {
    what: 'a cold start of validate, CPU',
    benchmark: 'cold-start',
    value: (figure) => figure('validate.cpu_ratio_to_bare'),
    more: (figure) => `${short(figure('validate.total_cpu_ms'))} ms`,
    limit: { atMost: 0.95 },
    reference: () => "1: the handler bundled with esbuild's defaults",
  },
  {
    what: 'a hundred lookups in one call, CPU',
    benchmark: 'batch',
    value: (figure) => figure('cpu_ratio_to_one_by_one'),
    reference: () => '1: a hundred calls',
  },
  {
    what: 'refusing the most expensive request of 64 KB, CPU beyond a valid batch of 100',
    benchmark: 'refused',
    value: (figure) => figure('most.beyond_ms'),
    unit: 'ms',
    more: (figure) => `an answer of ${short(figure('most.answer_bytes') / 1024)} KB at most`,
    limit: { atMost: 50 },
    reference: (figure) =>
      `${short(figure('valid_batch_ms'))} ms: the batch; ${short(figure('kinds'))} kinds of hostile requests`,
  },
  {
    what: 'refusing a request that is twice as large, CPU',
    benchmark: 'refused',
    value: (figure) => figure('most.growth'),
    limit: { atMost: 2.5 },
    reference: () => '1: half of it',
  },
  {
    what: "reading a tenth of the country's extract, CPU",
    benchmark: 'read',
    share: 0.1,
    value: (figure) => figure('cpu_ratio_to_inflate'),
    limit: { atMost: 3 },
    reference: (figure) => {
      const strict = figure('mb_per_cpu_second_inflate') / figure('mb_per_cpu_second_strict');
      return `1: inflating only; the strict reader alone: ${short(strict)}`;
    },
  },
  {
    what: 'from zip to snapshot, the country with the objects of its addresses',
    benchmark: 'objecten',
    share: 1,
    value: (figure) => figure('with.seconds_zip_to_snapshot'),
    unit: 's',
    limit: { atMost: 45 },
    reference: (figure) =>
      `${short(figure('without.seconds_zip_to_snapshot'))} s: the same zip without them`,
  },
  {
    what: 'from zip to snapshot, the country with the objects of its addresses',
    benchmark: 'objecten',
    share: 1,
    value: (figure) => figure('with.memory_mb_zip_to_snapshot'),
    unit: 'MB',
    limit: { atMost: 450 },
    reference: (figure) =>
      `${short(figure('without.memory_mb_zip_to_snapshot'))} MB: the same zip without them`,
  },
  {
    what: 'a day of mutations, the country',
    benchmark: 'mutations',
    share: 1,
    value: (figure) => figure('day_cpu_seconds'),
    unit: 'CPU s',
    more: (figure) => `${short(figure('day_memory_mb'))} MB at most`,
    limit: { atMost: 25 },
    reference: (figure) =>
      `${short(figure('extract.cpu_seconds'))} CPU s, ${short(figure('extract.memory_mb'))} MB: the extract`,
  },
  {
    what: '20 missed days in one load, the country',
    benchmark: 'mutations',
    share: 1,
    value: (figure) => figure('days_together.cpu_seconds'),
    unit: 'CPU s',
    more: (figure) => `${short(figure('days_together.memory_mb'))} MB`,
    reference: (figure) => `${short(figure('day_cpu_seconds'))} CPU s: one day`,
  },
  {
    what: 'writes for a changed address of a load',
    benchmark: 'load',
    value: (figure) => figure('month.writes_per_changed_key'),
    limit: { atMost: 1 },
    reference: () => '1: one write for each address and list that differs',
  },
  {
    what: 'wrong datasets over the limits that are published without a question, and healthy ones that are refused',
    benchmark: 'wrong',
    value: (figure) => figure('broken.length'),
    limit: { atMost: 0 },
    reference: (figure) =>
      `${total(figure, 'wrong').toLocaleString('en')} wrong datasets, ${total(figure, 'within_limits')} within the limits; ${total(figure, 'healthy')} healthy ones`,
  },
  {
    what: 'from zip to snapshot, the country, CPU',
    benchmark: 'peers',
    share: 1,
    options: '--peer ../bag-address-lookup',
    value: (figure) =>
      figure('zip_to_first_answer.1.ours_snapshot.cpu_seconds') /
      figure('zip_to_first_answer.1.peer_database.cpu_seconds'),
    more: (figure) => `${short(figure('zip_to_first_answer.1.ours_snapshot.cpu_seconds'))} CPU s`,
    limit: { atMost: 1 },
    reference: (figure) =>
      `1: [a peer](#beside-a-peer), from the same zip to its database (${short(figure('zip_to_first_answer.1.peer_database.cpu_seconds'))} CPU s)`,
  },
  {
    what: "the country's first start on one machine",
    benchmark: 'peers',
    share: 1,
    options: '--peer ../bag-address-lookup',
    value: (figure) => figure('zip_to_first_answer.1.ours.seconds'),
    unit: 's',
    more: (figure) =>
      `${short(figure('zip_to_first_answer.1.ours.cpu_seconds'))} CPU s, ${short(figure('zip_to_first_answer.1.ours.memory_mb'))} MB`,
    limit: { atMost: 75 },
    reference: (figure) =>
      `${short(figure('zip_to_first_answer.1.peer.seconds'))} s: [a peer](#beside-a-peer)`,
  },
  {
    what: '`npm start` again to the first answered lookup, time',
    benchmark: 'start',
    value: (figure) => figure('second_start.time_ratio_to_bare'),
    more: (figure) => `${short(figure('second_start.first_answer_ms'))} ms`,
    limit: { atMost: 1.5 },
    reference: (figure) =>
      `1: a bare server with the same engine (${short(figure('bare_first_answer_ms'))} ms)`,
  },
  {
    what: '`npm start` in a new folder to the first answered lookup, time',
    benchmark: 'start',
    value: (figure) => figure('new_folder.time_ratio_to_bare'),
    more: (figure) => `${short(figure('new_folder.first_answer_ms'))} ms`,
    limit: { atMost: 2.4 },
    reference: () => '1: the bare server',
  },
  {
    what: 'a lookup from `npm start`, CPU',
    benchmark: 'local',
    value: (figure) => figure('cpu_ratio_to_bare'),
    more: (figure) => `${short(figure('cpu_ms_service'))} ms`,
    limit: { atMost: lookupCpu },
    reference: (figure) =>
      `1: a bare server with the same two SDK calls (${short(figure('cpu_ms_bare'))} ms)`,
  },
  {
    what: 'lookups a second from `npm start`, 50 callers',
    benchmark: 'local',
    value: (figure) => figure('lookups_per_second_service') / figure('lookups_per_second_bare'),
    more: (figure) => `${short(figure('lookups_per_second_service'))} a second`,
    // The inverse: a lookup that takes more CPU leaves a core time for fewer.
    limit: { atLeast: 1 / lookupCpu },
    reference: (figure) => `1: the bare server (${short(figure('lookups_per_second_bare'))})`,
  },
];

/** The figures that are recorded in a folder. */
export function recordedIn(folder: string): Recorded {
  return (benchmark) => {
    const file = `${folder}/${benchmark}.json`;
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  };
}

/** The page with its tables as the recorded figures have them. */
export function withFigures(page: string, recorded: Recorded): string {
  const peers = recorded('peers');
  const tables = {
    figures: performanceTable(recorded),
    ...(peers && { peers: peersTable(peers) }),
  };
  return Object.entries(tables).reduce(
    (text, [name, table]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- /${name} -->)`),
        (_, before, after) => `${before}\n${table}\n\n${after}`,
      ),
    page,
  );
}

function performanceTable(recorded: Recorded): string {
  const missing = new Set<string>();
  const lines: string[] = [];
  for (const row of rows) {
    const figures = recorded(row.benchmark);
    if (figures && isOf(figures, row.share)) {
      lines.push(lineOf(row, (path) => figureAt(figures, path)));
    } else {
      missing.add(`\`npm run bench -- ${commandOf(row)}\``);
    }
  }
  const note = missing.size > 0 ? ['', `No run is recorded of ${[...missing].join(' and ')}.`] : [];
  return [
    '| | measured | limit | met | reference in the same run | `npm run bench --` |',
    '|---|---|---|---|---|---|',
    ...lines,
    ...note,
  ].join('\n');
}

/** Whether the figures are of this share of the country, or of none if the row has none. */
function isOf(figures: Figures, share: number | undefined): boolean {
  if (share === undefined || figures.scale === share) return true;
  return JSON.stringify(figures).includes(`"generated, ${share} of the country"`);
}

function commandOf({ benchmark, options, share }: Row): string {
  const scale = share === undefined ? '' : `--scale ${share}`;
  return [benchmark, options, scale].filter(Boolean).join(' ');
}

function lineOf(row: Row, figure: Figure): string {
  const { what, value, unit, more, limit, reference } = row;
  const measured = value(figure);
  const shown = [short(measured), unit].filter(Boolean).join(' ');
  const beside = more === undefined ? '' : unit ? `, ${more(figure)}` : ` (${more(figure)})`;
  const cells = [what, `${shown}${beside}`, '', '', reference(figure), commandOf(row)];
  if (limit) {
    const isMet = 'atMost' in limit ? measured <= limit.atMost : measured >= limit.atLeast;
    const bound = 'atMost' in limit ? `at most ${limit.atMost}` : `at least ${limit.atLeast}`;
    cells[2] = [bound, unit].filter(Boolean).join(' ');
    cells[3] = isMet ? 'yes' : '**no**';
  }
  return `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`;
}

type Taken = { seconds: number; cpu_seconds: number; memory_mb: number };

/** What both programs took from one extract to what they look up in, and to their first answer. */
type ExtractTaken = {
  extract: string;
  ours: Taken;
  ours_snapshot: Taken;
  peer: Taken;
  peer_database: Taken;
};

function peersTable(figures: Figures): string {
  const figure: Figure = (path) => figureAt(figures, path);
  const extracts = figures.zip_to_first_answer as ExtractTaken[];
  const first = extracts.flatMap(({ extract, ours, ours_snapshot, peer, peer_database }) => {
    const name = extract === 'generated, 1 of the country' ? 'the country' : extract;
    const rowOf = (way: string, our: Taken, their: Taken) => {
      const ratio = short(our.cpu_seconds / their.cpu_seconds);
      return `| ${name}, ${way} | ${takenOf(our)}: ${ratio} of the peer's CPU | ${takenOf(their)} |`;
    };
    return [
      rowOf('zip to snapshot, or to the database', ours_snapshot, peer_database),
      rowOf('zip to first answer', ours, peer),
    ];
  });
  const perSecond = (name: string) => short(figure(`addresses_a_second.${name}`));
  const cpu = (name: string) => short(figure(`cpu_ms_an_address.${name}`));
  return [
    `| | \`npm start\` | ${figures.peer} |`,
    '|---|---|---|',
    '| a new extract | is checked, kept and written as a difference | is compiled into a new binary |',
    ...first,
    `| addresses a second, ${figure('callers')} callers | ${perSecond('ours_with_keys')} with a key; ${perSecond('ours_with_keys_100_a_call')} in calls of 100 | ${perSecond('peer_without_keys')}, each on a connection of its own |`,
    `| CPU of an address | ${cpu('ours_with_keys')} ms; ${cpu('ours_with_keys_100_a_call')} ms in calls of 100 | ${cpu('peer_without_keys')} ms |`,
  ].join('\n');
}

const takenOf = ({ seconds, cpu_seconds, memory_mb }: Taken) =>
  `${short(seconds)} s, ${short(cpu_seconds)} CPU s, ${short(memory_mb)} MB`;

/** The sum of a member of all rows. */
function total(figure: Figure, member: string): number {
  const indexes = Array.from({ length: figure('rows.length') }, (_, index) => index);
  return indexes.reduce((sum, index) => sum + figure(`rows.${index}.${member}`), 0);
}

/** @throws Error if the figures have no number there */
function figureAt(figures: Figures, path: string): number {
  const value = path
    .split('.')
    .reduce<unknown>((inner, name) => (inner as Figures | undefined)?.[name], figures);
  if (typeof value !== 'number') {
    throw new Error(`docs/performance/${figures.benchmark}.json has no number at ${path}.`);
  }
  return value;
}

/** To three digits that count. */
function short(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en', { maximumFractionDigits: 5 });
}
