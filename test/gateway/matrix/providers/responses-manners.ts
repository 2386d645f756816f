import { type Body, isObject, isText } from '#test/gateway/support/strict-provider.ts';
import { eventsOfResponse, openAiResponse, outputMessage } from '#test/gateway/support/strict-responses.ts';
import { parsedOrText, type Said } from '../exchange.ts';
import type { Manner } from './matrix-provider.ts';

/** Begins the opaque reasoning of the provider. */
export const name = 'enc';

/** Which opaque text belongs to a thought. */
export function encryptedOf(thought: string): string {
  return `${name}-${Buffer.from(thought).toString('base64')}`;
}

/** What differs between servers of Responses. What is missing is as OpenAI has it. */
interface Differences extends Partial<Pick<Manner, 'fits' | 'isForeign'>> {
  /** An item of reasoning with a text. */
  readonly reasoning?: (thought: string) => Body;
  /** Changes an event of a stream; null leaves it out. */
  readonly event?: (event: Body) => Body | null;
  /** Changes a whole response. */
  readonly response?: (response: Body) => Body;
  /** What follows the last event. */
  readonly last?: ReadonlyArray<string>;
}

const hasCalls = (script: ReadonlyArray<Said>) => script.some(({ calls }) => calls.length > 1);
const hasWholeCalls = (script: ReadonlyArray<Said>) =>
  hasCalls(script) && script.every(({ calls }) => calls.every(({ given }) => isObject(parsedOrText(given))));
const saysMore = (script: ReadonlyArray<Said>) => script.length > 1;

/** How servers of Responses that are not exactly OpenAI say the same. */
export const responsesManners: readonly [Manner, ...Manner[]] = [
  mannerOf('OpenAI', {}),
  // https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses
  mannerOf('Azure', { response: (response) => ({ ...response, content_filters: null }) }),
  // https://github.com/vllm-project/vllm: each event of reasoning has the next place, and other ids than the items.
  mannerOf('vLLM', {
    isForeign: true,
    fits: saysMore,
    reasoning: (thought) => ({ summary: [], content: [{ type: 'reasoning_text', text: thought }] }),
    event: ({ item_id: _, content_index: __, ...event }) => ({ ...event, item_id: '', content_index: 7 }),
    last: ['data: [DONE]\n\n'],
  }),
  // https://lmstudio.ai/docs/developer/openai-compat/responses
  mannerOf('LM Studio, whose arguments come in one piece at their end', {
    fits: hasWholeCalls,
    event: withoutTypes('response.function_call_arguments.delta'),
  }),
  mannerOf('a server that has its items in their ends alone', {
    isForeign: true,
    fits: saysMore,
    event: withoutTypes('.delta', '.added', '_text.done', '_part.done', '_arguments.done'),
  }),
  mannerOf('a server that has its items in the last event alone', {
    isForeign: true,
    fits: saysMore,
    event: withoutTypes('.delta', '.added', '.done'),
  }),
  mannerOf('a server that does not end its parts', {
    isForeign: true,
    fits: (script) => script.every(({ thought }) => thought === ''),
    event: withoutTypes('.done'),
  }),
  mannerOf('a server without ids and places of items', {
    isForeign: true,
    fits: saysMore,
    event: ({ item_id: _, output_index: __, ...event }) => ({
      ...event,
      ...(isObject(event.item) ? { item: { ...event.item, id: undefined } } : {}),
    }),
  }),
  mannerOf('a server whose arguments are objects', {
    isForeign: true,
    fits: hasWholeCalls,
    response: (response) => ({ ...response, output: (response.output as ReadonlyArray<Body>).map(withObject) }),
    event: (event) =>
      isObject(event.item) ? { ...event, item: withObject(event.item) } : withoutTypes('_arguments.delta')(event),
  }),
];

/** Leaves out the events whose types end so. */
function withoutTypes(...ends: ReadonlyArray<string>): (event: Body) => Body | null {
  return (event) => (ends.some((end) => String(event.type).endsWith(end)) ? null : event);
}

function withObject(item: Body): Body {
  return item.type === 'function_call' && isText(item.arguments)
    ? { ...item, arguments: item.arguments === '' ? '' : parsedOrText(item.arguments) }
    : item;
}

function mannerOf(of: string, differences: Differences): Manner {
  const { fits = () => true, isForeign = false, event = (each) => each, response = (each) => each } = differences;
  const whole = (said: Said) => response(responseOf(said, differences.reasoning ?? withSummary));
  return {
    name: of,
    fits,
    isForeign,
    hasIds: true,
    mixesThoughts: false,
    whole,
    stream: (said) => {
      const events = eventsOfResponse(whole(said));
      const content = events.slice(2, -1).flatMap((each) => changedEvent(each, event));
      return { start: events.slice(0, 2), content, end: [...events.slice(-1), ...(differences.last ?? [])] };
    },
  };
}

function changedEvent(text: string, change: NonNullable<Differences['event']>): ReadonlyArray<string> {
  const event = change(JSON.parse(text.slice(text.indexOf('data: ') + 'data: '.length)) as Body);
  return event === null ? [] : [`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`];
}

function responseOf({ thought, text, calls, reason }: Said, reasoning: (thought: string) => Body): Body {
  const isCut = reason === 'length';
  const thinking = { id: 'rs_fake', type: 'reasoning', ...reasoning(thought), encrypted_content: encryptedOf(thought) };
  const output = [
    ...(thought === '' ? [] : [thinking]),
    ...(text === '' ? [] : [outputMessage(text)]),
    ...calls.map(({ id, name: called, namespace, given }) => ({
      id: `fc_${id}`,
      type: 'function_call',
      status: isCut ? 'incomplete' : 'completed',
      call_id: id,
      name: called,
      ...(namespace === undefined ? {} : { namespace }),
      arguments: given,
    })),
  ];
  return openAiResponse(
    output,
    isCut ? { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } } : {},
  );
}

function withSummary(thought: string): Body {
  return { summary: [{ type: 'summary_text', text: thought }] };
}
