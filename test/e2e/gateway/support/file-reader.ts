import { type Behaviour, chunk, done, role, stop, stream, words } from '#test/gateway/support/fake-provider.ts';
import { listOf } from '#test/gateway/support/strict-provider.ts';

/** What is in the file. */
export const content = 'Open from nine to five.';

/** A call of the agent's own tool. */
interface Call {
  readonly name: string;
  readonly arguments: string;
}

/**
 * Answers a chat as a model that thinks, asks for the file with the agent's tool, and then says what is in it. A chat
 * without that tool, as agents ask for a title, gets a text.
 */
export function answerWithFile(body: Readonly<Record<string, unknown>>, call: Call): Behaviour {
  const results = listOf(body.messages).filter(({ role: said }) => said === 'tool');
  const hasTool = JSON.stringify(body.tools ?? []).includes(`"name":"${call.name}"`);
  if (results.length > 0 || !hasTool) {
    const isRead = JSON.stringify(results).includes(content);
    return stream([role, ...words(isRead ? `The file says: ${content}` : 'Nothing.'), stop, done]);
  }
  const asked = { index: 0, id: 'call_1', type: 'function', function: call };
  const thought = chunk({ reasoning_content: 'Where is it?' });
  return stream([role, thought, chunk({ tool_calls: [asked] }), chunk({}, 'tool_calls'), done]);
}
