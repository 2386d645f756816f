import { TurnBudget } from '#shared/async/turn-budget.ts';
import { runFor } from '#shared/async/work-owner.ts';
import { EncodedJson } from '#shared/json/encoded-json.ts';
import type { Json } from '#shared/json/json.ts';

/** The most characters of all answers in one turn of the event loop; the last text may exceed this. */
const charactersInATurn = 256 * 1024;
const turns = new TurnBudget(charactersInATurn);

/**
 * Returns the JSON text of an answer. Large answers that are ready at the same time each get their own turn.
 * @param owner whose work it is
 */
export function answerText(body: Json | EncodedJson, owner: string): string | Promise<string> {
  if (body instanceof EncodedJson) return body.text;
  return runFor(owner, () =>
    turns.run(
      () => JSON.stringify(body),
      ({ length }) => length,
    ),
  );
}
