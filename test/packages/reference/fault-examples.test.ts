import { describe, expect, it } from '@jest/globals';
import { readBatchInput } from '../../../core/addresses/batch-input.ts';
import { queryFaults } from '../../../core/addresses/input-faults.ts';
import { faultExamples } from '../../../packages/reference/fault-examples.ts';

describe('the example of a code', () => {
  it.each(Object.entries(faultExamples))(
    '%s, %s, is refused with that code alone',
    (code, example) => {
      const isBody = /^[[{]/.test(example);
      const batch = readBatchInput(example, '', ['gemeente']);
      const { faults } =
        isBody && 'faults' in batch ? batch.faults() : queryFaults(example, ['gemeente']);
      expect(faults.map((fault) => fault.code)).toEqual([code]);
    },
  );
});
