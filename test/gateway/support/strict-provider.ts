import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Behaviour, SeenRequest } from './fake-provider.ts';

/** A JSON object of a request. */
export type Body = Readonly<Record<string, unknown>>;

/** Why a provider refuses a request, or null. @param page the page of the provider's reference that says so */
export type Rule = {
  readonly page: string;
  readonly refuses: (body: Body, headers: IncomingHttpHeaders) => string | null;
};

/** A provider that refuses what the real one refuses. */
export interface StrictProvider {
  readonly rules: ReadonlyArray<Rule>;
  readonly behaviour: Behaviour;
  /** The refusals that it gave, for tests that expect none. */
  readonly refusals: string[];
}

/** Answers a request that no rule refuses. */
export type Answer = (res: ServerResponse, body: Body, seen: SeenRequest) => void | Promise<void>;

/** Refuses in the form of a protocol. */
export type Refuse = (res: ServerResponse, fault: string) => void;

/**
 * A provider that refuses what its rules refuse, and answers the rest.
 * @param judged what the rules see of a request; default: its body
 */
export function strictProvider(
  rules: ReadonlyArray<Rule>,
  refuse: Refuse,
  answer: Answer,
  judged: (body: Body, seen: SeenRequest) => Body = (body) => body,
): StrictProvider {
  const refusals: string[] = [];
  return {
    rules,
    refusals,
    behaviour: (res, seen) => {
      const body = parsedBody(seen);
      const fault = firstFault(rules, judged(body, seen), seen.headers);
      if (fault === null) return answer(res, body, seen);
      refusals.push(fault);
      return refuse(res, fault);
    },
  };
}

/** Refuses in OpenAI's form. */
export const refuseAsOpenAi: Refuse = (res, fault) => {
  const error = { message: fault, type: 'invalid_request_error', param: null, code: null };
  sendJson(res, { error }, fault.startsWith('You did not') ? 401 : 400);
};

/** Sends a whole JSON answer. */
export function sendJson(res: ServerResponse, value: unknown, status = 200): void {
  res.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_fake' }).end(JSON.stringify(value));
}

export const rule = (page: string, refuses: Rule['refuses']): Rule => ({ page, refuses });

/** What every provider of OpenAI's form refuses without a key. */
export const bearerRule = rule(
  'https://platform.openai.com/docs/api-reference/authentication',
  (_, { authorization }) => (/^Bearer \S+$/.test(authorization ?? '') ? null : 'You did not provide an API key'),
);

/** What every provider refuses of the members of a request. @param members those that it knows */
export const memberRules = (page: string, members: ReadonlyArray<string>): ReadonlyArray<Rule> => [
  rule(page, (body) => unknownIn(body, members)),
  rule(page, ({ model }) => (isText(model) && model !== '' ? null : 'model: is required')),
];

/** The first refusal of some rules; null without one. */
export function firstFault(rules: ReadonlyArray<Rule>, body: Body, headers: IncomingHttpHeaders): string | null {
  return faultIn(rules, ({ refuses }) => refuses(body, headers));
}

export const isObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const listOf = (value: unknown): ReadonlyArray<Body> => (Array.isArray(value) ? value.filter(isObject) : []);

export const isText = (value: unknown): value is string => typeof value === 'string';

/** The first fault of some values; null without one. */
export function faultIn<Value>(values: ReadonlyArray<Value>, faultOf: (value: Value) => string | null): string | null {
  return values.reduce<string | null>((found, value) => found ?? faultOf(value), null);
}

export const isBetween = (value: unknown, minimum: number, maximum: number): boolean =>
  value === undefined || (typeof value === 'number' && value >= minimum && value <= maximum);

/** The text of a content that is a text or a list of parts. */
export function textIn(content: unknown): string {
  if (isText(content)) return content;
  return listOf(content)
    .map(({ text }) => (isText(text) ? text : ''))
    .join('');
}

/** A text in two pieces, as streams have it. */
export function halvesOf(text: string): readonly [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** Finds members that are not known. */
export function unknownIn(value: Body, known: ReadonlyArray<string>): string | null {
  const extra = Object.keys(value).find((name) => !known.includes(name));
  return extra === undefined ? null : `${extra}: extra inputs are not permitted`;
}

export const days = ['Monday', 'Tuesday'];

/** What the model of a strict provider says next: it asks for the hours of two days, and then says what it got. */
export type Turn = { readonly kind: 'call'; readonly day: string } | { readonly kind: 'text'; readonly text: string };

/** @param results the texts of all results of tools so far */
export function nextTurn(results: ReadonlyArray<string>, hasTools: boolean, asked: string): Turn {
  const day = days[results.length];
  if (hasTools && day !== undefined) return { kind: 'call', day };
  return { kind: 'text', text: results.length === 0 ? `You said: ${asked}` : `Open ${results.join(' and ')} ✓` };
}

/** Sends a stream in pieces. */
export function sendEvents(res: ServerResponse, events: ReadonlyArray<string>): void {
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'request-id': 'req_fake' });
  for (const event of events) res.write(event);
  res.end();
}

/** Answers as a request asks. */
export function sendAsAsked(
  res: ServerResponse,
  body: Body,
  whole: unknown,
  events: () => ReadonlyArray<string>,
): void {
  if (body.stream === true) sendEvents(res, events());
  else sendJson(res, whole);
}

export function parsedBody({ body }: SeenRequest): Body {
  const value: unknown = JSON.parse(body.toString('utf8'));
  return isObject(value) ? value : {};
}
