import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addProblem,
  emptyReport,
  mergeReports,
  type Problem,
  type ProblemReport,
  problemKinds,
} from '../../../loader/bag/problem-report.ts';

const problem: fc.Arbitrary<Problem> = fc.record({
  kind: fc.constantFrom(...problemKinds),
  file: fc.constantFrom('a.xml', 'b.xml'),
  identificatie: fc.nat(30).map(String),
});

function reportOf(problems: Problem[]): ProblemReport {
  const report = emptyReport();
  for (const one of problems) addProblem(report, one);
  return report;
}

describe('a problem report', () => {
  it('is the same for any division and order of the work', () => {
    fc.assert(
      fc.property(
        fc.array(problem, { maxLength: 60 }),
        fc.nat(60),
        fc.boolean(),
        (problems, cut, turned) => {
          const parts = [reportOf(problems.slice(0, cut)), reportOf(problems.slice(cut).reverse())];
          expect(mergeReports(turned ? parts.reverse() : parts)).toEqual(reportOf(problems));
        },
      ),
    );
  });

  it('counts every problem, and keeps a few of each kind', () => {
    fc.assert(
      fc.property(fc.array(problem, { maxLength: 60 }), (problems) => {
        for (const kind of problemKinds) {
          const count = problems.filter((one) => one.kind === kind).length;
          const reported = reportOf(problems)[kind];
          expect({ count: reported.count, examples: reported.examples.length }).toEqual({
            count,
            examples: Math.min(count, 5),
          });
        }
      }),
    );
  });
});
