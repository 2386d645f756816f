import { adminKey } from '#bench/http-processes/processes.ts';

const bodyBytes = 760 * 1024;
/** A little less than the 50,000 values that a body may hold. */
const maxValues = 49_000;

const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };

/** A control-plane request with a body of nearly the maximum size. */
export interface LargeCommand {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** The expected status of the answer. */
  readonly status: number;
}

/** Schemas of up to 760 KiB: the maximum number of values, many names, deep nesting, texts full of escapes. */
const schemas: Readonly<Record<string, string>> = {
  'empty objects': `[{}${',{}'.repeat(maxValues - 10)}]`,
  names: `{"k":1${Array.from({ length: 40_000 }, (_, index) => `,"name ${index}":1`).join('')}}`,
  levels: `${'["x",'.repeat(250)}"${'y'.repeat(bodyBytes - 4_000)}"${']'.repeat(250)}`,
  escapes: `"${'\\u00e9'.repeat((bodyBytes - 1_000) / 6)}"`,
};

/** Creates the resources of the commands, and returns commands of every expensive kind. */
export async function largeCommands(url: string): Promise<ReadonlyArray<LargeCommand>> {
  const { projectId } = await callJson(url, 'GET', '/v1/me');
  const project = `/v1/projects/${projectId}`;
  const { id: flowId } = await callJson(url, 'POST', `${project}/flows`, { name: 'Small', flowSchema: null });
  const { id: templateId } = await callJson(url, 'POST', '/v1/templates', { name: 'Small' });
  const { id: profileId } = await callJson(url, 'POST', `${project}/agent-profiles`, profile([]));
  const versions = `/v1/templates/${templateId}/versions`;
  const known = [String(flowId)];
  const unknown = Array.from({ length: 28_000 }, (_, index) => `cflow${String(index).padStart(18, '0')}`);
  return [
    ...Object.entries(schemas).flatMap(([name, schema]) => [
      post(`flow of ${name}`, `${project}/flows`, `{"name":"Large","flowSchema":${schema}}`, 201),
      post(`flow version of ${name}`, `/v1/flows/${flowId}/versions`, `{"flowSchema":${schema}}`, 201),
      post(`phone number of ${name}`, `${project}/phone-numbers`, phoneNumberOf(schema), 201),
      post(`template of ${name}`, versions, `{"payload":{"flows":[${templateFlow('a', schema)}]}}`, 201),
    ]),
    post('template of placeholders', versions, templateOfPlaceholders('a'), 201),
    post('template of undeclared placeholders', versions, templateOfPlaceholders('other'), 422),
    post('template of fields', versions, templateOfFields, 201),
    post('template of faulty fields', versions, templateOfFields.replaceAll('"string"', '"text"'), 422),
    put('profile of unknown flows', profileId, profile(unknown), 404),
    put('profile of one flow named often', profileId, profile(Array.from(unknown, () => known[0] ?? '')), 200),
    put('profile of faulty flows', profileId, { ...profile([]), flowIds: unknown.map(() => 1) }, 422),
    put('profile of languages', profileId, { ...profile([]), supportedInputLanguages: unknown }, 200),
  ];
}

/** Sends a command. @throws Error when the answer is not the expected one */
export async function send(url: string, { name, method, path, body, status }: LargeCommand): Promise<void> {
  const answer = await fetch(url + path, { method, headers, body });
  const text = await answer.text();
  if (answer.status !== status) throw new Error(`${name} was answered ${answer.status}: ${text.slice(0, 300)}`);
}

function post(name: string, path: string, body: string, status: number): LargeCommand {
  return { name, method: 'POST', path, body, status };
}

function put(name: string, profileId: string | undefined, body: object, status: number): LargeCommand {
  return { name, method: 'PUT', path: `/v1/agent-profiles/${profileId}`, body: JSON.stringify(body), status };
}

function profile(flowIds: ReadonlyArray<string>): object {
  const voice = { supportedInputLanguages: ['en'], reasoningMode: 'fast', outputVoiceId: 'narrator' };
  return { name: 'Desk', flowIds, isDefault: false, ...voice };
}

/** An external number may exist once in a project, so each command has another number. */
let numbers = 0;
const phoneNumberOf = (fields: string): string => {
  numbers += 1;
  const number = `+4420718${String(numbers).padStart(5, '0')}`;
  return `{"name":"Large","number":"${number}","type":"external","externalPhoneFields":{"all":${fields}}}`;
};

const templateFlow = (key: string, schema: string): string =>
  `{"key":"${key}","name":"Large","flowType":"simple","flowSchema":${schema}}`;

const oneField = '{"key":"a","label":"A","type":"string","required":false}';

function templateOfPlaceholders(field: string): string {
  const placeholder = `"{{fields.${field}}}"`;
  const schema = `[${Array.from({ length: 35_000 }, () => placeholder).join()}]`;
  return `{"payload":{"flows":[${templateFlow('a', schema)}]},"fieldsSchema":[${oneField}]}`;
}

const templateOfFields = (() => {
  const fields = Array.from({ length: 9_500 }, (_, index) => oneField.replace('"a"', `"a${index}"`));
  return `{"payload":{"flows":[${templateFlow('a', '{}')}]},"fieldsSchema":[${fields.join()}]}`;
})();

async function callJson(url: string, method: string, path: string, body?: object): Promise<Record<string, string>> {
  const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}
