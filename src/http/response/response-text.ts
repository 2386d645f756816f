import { TurnBudget } from '#shared/async/turn-budget.ts';
import { EncodedJson } from '#shared/json/encoded-json.ts';
import type { Json } from '#shared/json/json.ts';

/** Characters written between two turns of the event loop, whoever they are for; the last text may exceed it. */
const charactersInATurn = 256 * 1024;
const turns = new TurnBudget(charactersInATurn);

/** The JSON text of an answer. Large ones that become ready at the same time are written in turns of their own. */
export async function answerText(body: Json | EncodedJson): Promise<string> {
  if (body instanceof EncodedJson) return body.text;
  return turns.run(
    () => JSON.stringify(body),
    ({ length }) => length,
  );
}
