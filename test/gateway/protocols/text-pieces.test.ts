import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isLongText, textPieces } from '#gateway/neutral/text-pieces.ts';

describe('The pieces of a long text', () => {
  it('are the text, and split no character', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('x', 'é', '€', '😀', '👩‍👩‍👧'),
        fc.nat(3),
        fc.integer({ min: 1, max: 300_000 }),
        (character, before, times) => {
          const event = { kind: 'arguments', index: 3, text: 'x'.repeat(before) + character.repeat(times) } as const;
          const pieces = [...textPieces(event)];
          assert.equal(pieces.map(({ text }) => text).join(''), event.text);
          for (const { text, ...same } of pieces) {
            assert.ok(text.isWellFormed());
            assert.ok(text.length > 0 && !isLongText({ kind: 'text', text: text.slice(1) }));
            assert.deepEqual(same, { kind: 'arguments', index: 3 });
          }
        },
      ),
      { numRuns: 30 },
    );
  });
});
