import { TurnBudget } from '#shared/async/turn-budget.ts';
import { EncodedJson } from '#shared/json/encoded-json.ts';
import type { Json } from '#shared/json/json.ts';

/** The most characters of all answers in one turn of the event loop; the last text may exceed this. */
const charactersInATurn = 256 * 1024;
const turns = new TurnBudget(charactersInATurn);

/** Returns the JSON text of an answer. Large answers that are ready at the same time each get their own turn. */
export async function answerText(body: Json | EncodedJson): Promise<string> {
  if (body instanceof EncodedJson) return body.text;
  return turns.run(
    () => JSON.stringify(body),
    ({ length }) => length,
  );
}
