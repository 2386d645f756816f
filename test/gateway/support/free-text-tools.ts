import { ClientTools } from '#gateway/neutral/client-tools.ts';

/** The tools of a client that takes one free text for each. */
export function freeTextTools(names: ReadonlyArray<string>): ClientTools {
  return new ClientTools(names.map((name) => ({ name, client: { form: 'custom', namespace: null, name } })));
}
