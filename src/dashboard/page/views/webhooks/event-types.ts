import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useData } from '#dashboard/page/app/data/use-data.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { html } from '#dashboard/page/html.ts';
import { Loaded } from '#dashboard/page/parts/boxes.ts';
import { TextField } from '#dashboard/page/parts/fields.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';

interface Specification {
  readonly components: { readonly schemas: { readonly ListedEventType: { readonly enum: ReadonlyArray<string> } } };
}

interface EventTypesProps {
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
}

/** A choice of event types. None means all. */
export function EventTypes({ chosen, onChoose }: EventTypesProps): VNode {
  const { api } = useSession();
  const [text, setText] = useState('');
  const types = useData<ReadonlyArray<string>>('types of events', { kinds: [] }, async (signal) => {
    const { components } = await api.get<Specification>('/openapi.json', signal);
    return components.schemas.ListedEventType.enum;
  });
  const toggle = (type: string) => {
    const next = new Set(chosen);
    if (!next.delete(type)) next.add(type);
    onChoose(next);
  };
  const note = chosen.size === 0 ? 'none ticked: all types' : `${countOf(chosen.size, 'type')} ticked`;
  return html`<fieldset class="checklist">
    <legend>Event types <span class="req">${note}</span></legend>
    <${TextField} label="Find a type" type="search" value=${text} onText=${setText} placeholder="FlowVersion" />
    <${Loaded} data=${types} rows=${4}>${(
      all: ReadonlyArray<string>,
    ) => html`<ul tabindex="0" aria-label="Types of events">
      ${all
        .filter((type) => type.toLowerCase().includes(text.trim().toLowerCase()))
        .map(
          (type) =>
            html`<li key=${type}><label><input type="checkbox" checked=${chosen.has(type)} onChange=${() => toggle(type)} /> <span class="mono">${type}</span></label></li>`,
        )}
    </ul>`}<//>
    <p class="hint"><a href="/docs/events" target="_blank" rel="noopener">What each type means</a></p>
  </fieldset>`;
}
