import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '#dashboard/page/api/api-error.ts';
import type { Instance, Template, TemplateVersion } from '#dashboard/page/api/records.ts';
import { setSearch } from '#dashboard/page/app/routing/location.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';
import { jsonChanges } from '#dashboard/page/graph/json-changes.ts';
import { html } from '#dashboard/page/html.ts';
import { Badge, Copy, Icon, Status, Time } from '#dashboard/page/parts/basics.ts';
import { Card, Empty } from '#dashboard/page/parts/boxes.ts';
import { Changes } from '#dashboard/page/parts/changes.ts';
import { ConfirmChange } from '#dashboard/page/parts/dialogs/confirm-change.ts';
import { FormDialog } from '#dashboard/page/parts/dialogs/form-dialog.ts';
import { SelectField, TextField } from '#dashboard/page/parts/fields.ts';
import { useNames } from '#dashboard/page/parts/who.ts';
import { countOf } from '#dashboard/page/text/numbers.ts';

interface PanelProps {
  readonly template: Template;
  /** Newest first. */
  readonly versions: ReadonlyArray<TemplateVersion>;
}

type Opened =
  | { readonly dialog: 'archive' | 'new-version' }
  | { readonly dialog: 'publish' | 'instance'; readonly version: TemplateVersion }
  | null;

export function TemplatePanel({ template, versions }: PanelProps): VNode {
  const [opened, setOpened] = useState<Opened>(null);
  const close = () => setOpened(null);
  const published = versions.find(({ publishedAt }) => publishedAt !== null);
  const isArchived = template.status === 'archived';
  const { toasts } = useSession();
  return html`<div class="stack">
    <${Card} id="template" title=${template.name} aside=${html`<${Status} status=${template.status} plain=${true} />
      <button type="button" class="btn icon-only quiet" aria-label="Close" onClick=${() => setSearch({ template: null })}><${Icon} name="close" /></button>`}>
      <div class="body">
        ${template.description === null ? null : html`<p class="muted">${template.description}</p>`}
        <dl class="kv"><dt>Id</dt><dd><${Copy} text=${template.id} label="id" /></dd><dt>Made</dt><dd><${Time} at=${template.createdAt} /></dd></dl>
        ${
          isArchived
            ? null
            : html`<div class="row">
          ${published === undefined ? null : html`<button type="button" class="btn primary" onClick=${() => setOpened({ dialog: 'instance', version: published })}>New instance</button>`}
          <button type="button" class="btn" onClick=${() => setOpened({ dialog: 'new-version' })}>New version</button>
          <button type="button" class="btn danger" onClick=${() => setOpened({ dialog: 'archive' })}>Archive</button>
        </div>`
        }
      </div>
      ${versions.length === 0 ? html`<${Empty} title="No version yet">A version has the flows that an instance gets. Instances can be created from a published version.<//>` : null}
      <ul class="changes versions-list">
        ${versions.map(
          (version) => html`<li key=${version.id}><span>Version ${version.version}</span><span class="row">
            <span class="muted">${version.tag}</span>
            ${version.publishedAt === null ? html`<${Badge} tone="idle" plain=${true}>not published<//>` : html`<span class="faint small">published <${Time} at=${version.publishedAt} /></span>`}
            <span class="faint small">${countOf(version.payload.flows.length, 'flow')}, ${countOf(version.fieldsSchema.length, 'field')}</span>
            ${version.publishedAt === null && !isArchived ? html`<button type="button" class="btn" onClick=${() => setOpened({ dialog: 'publish', version })}>Publish</button>` : null}
          </span></li>`,
        )}
      </ul>
    <//>
    ${versions.length < 2 ? null : html`<${VersionComparison} versions=${versions} />`}
    ${
      opened?.dialog === 'archive'
        ? html`<${ConfirmChange} title=${`Archive ${template.name}?`} request=${{ method: 'POST', path: `/v1/templates/${template.id}/archive`, body: {} }}
      keepLabel="Keep it" doLabel="Archive template" isDestructive=${true} onClose=${close} onDone=${() => toasts.show(`${template.name} is archived.`)}>
      <p class="muted">Its instances stay. It gets no new versions, publications or instances.</p><//>`
        : null
    }
    ${
      opened?.dialog === 'publish'
        ? html`<${ConfirmChange} title=${`Publish version ${opened.version.version}?`} request=${{ method: 'POST', path: `/v1/template-versions/${opened.version.id}/publish`, body: {} }}
      keepLabel="Not yet" doLabel=${`Publish version ${opened.version.version}`} onClose=${close} onDone=${() => toasts.show(`Version ${opened.version.version} is published.`)} />`
        : null
    }
    ${opened?.dialog === 'new-version' ? html`<${NewVersionDialog} template=${template} newest=${versions[0] ?? null} onClose=${close} />` : null}
    ${opened?.dialog === 'instance' ? html`<${NewInstanceDialog} version=${opened.version} onClose=${close} />` : null}
  </div>`;
}

function VersionComparison({ versions }: { versions: ReadonlyArray<TemplateVersion> }): VNode {
  const [to, setTo] = useState(versions[0]?.id ?? '');
  const after = versions.find(({ id }) => id === to);
  const before = versions.find(({ version }) => after !== undefined && version < after.version);
  const options = versions.slice(0, -1).map(({ id, version }) => ({ value: id, text: `version ${version}` }));
  const content = ({ payload, fieldsSchema }: TemplateVersion) => ({
    ...payload,
    flows: Object.fromEntries(payload.flows.map((flow) => [flow.key, flow])),
    fields: Object.fromEntries(fieldsSchema.map((field) => [field.key, field])),
  });
  const changes = after === undefined || before === undefined ? [] : jsonChanges(content(before), content(after));
  return html`<${Card} id="template-diff" title=${`Against version ${before?.version ?? ''}`} note=${countOf(changes.length, 'change')}
    aside=${html`<${SelectField} label="Version" hideLabel=${true} value=${to} options=${options} onPick=${setTo} />`}>
    <${Changes} changes=${changes} />
  <//>`;
}

const firstContent = {
  payload: {
    flows: [
      {
        key: 'greeting',
        name: 'Greeting',
        flowType: 'simple',
        flowSchema: { say: 'Good day, this is {{fields.name}}.' },
      },
    ],
  },
  fieldsSchema: [{ key: 'name', label: 'Name', type: 'string', required: true }],
};

function NewVersionDialog({
  template,
  newest,
  onClose,
}: {
  template: Template;
  newest: TemplateVersion | null;
  onClose: () => void;
}): VNode {
  const { api, toasts } = useSession();
  const [tag, setTag] = useState('');
  const [text, setText] = useState(
    JSON.stringify(
      newest === null ? firstContent : { payload: newest.payload, fieldsSchema: newest.fieldsSchema },
      null,
      2,
    ),
  );
  const save = async () => {
    const made = await api.send<TemplateVersion>('POST', `/v1/templates/${template.id}/versions`, {
      ...contentOf(text),
      ...(tag === '' ? {} : { tag }),
    });
    toasts.show(`Version ${made.version} is created.`, 'It is not published.');
    return true;
  };
  return html`<${FormDialog} title=${`New version of ${template.name}`} doLabel="Create version" onClose=${onClose} onSave=${save}>
    <${TextField} label="Tag" note="optional" value=${tag} onText=${setTag} />
    <${TextField} label="payload and fieldsSchema" rows=${16} mono=${true} value=${text} onText=${setText} />
  <//>`;
}

/** @throws ApiError for any other text than a JSON object, like a refusal by the service */
function contentOf(text: string): object {
  try {
    const content: unknown = JSON.parse(text);
    if (typeof content === 'object' && content !== null) return content;
  } catch {
    // Refused below, like every text that is not an object.
  }
  throw new ApiError({ status: 400, code: 'malformed-json', detail: 'This is not a JSON object yet.' });
}

function NewInstanceDialog({ version, onClose }: { version: TemplateVersion; onClose: () => void }): VNode {
  const { api, toasts, me } = useSession();
  const names = useNames();
  const [name, setName] = useState('');
  const [projectId, setProject] = useState(names.customers[0]?.projectId ?? me.projectId);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const fields = version.fieldsSchema;
  const save = async () => {
    const made = await api.send<Instance>('POST', '/v1/instances', {
      templateVersionId: version.id,
      projectId,
      name,
      fieldValues: values,
    });
    toasts.show(`${made.name} is being created.`);
    setSearch({ instance: made.id, template: null });
    return true;
  };
  return html`<${FormDialog} title=${`New instance of version ${version.version}`} doLabel="Create instance" onClose=${onClose} onSave=${save}
    fields=${['/name', ...fields.map(({ key }) => `/fieldValues/${key}`)]}>
    ${(problemAt: (pointer: string) => string | null) => html`
      <${SelectField} label="Project" value=${projectId} onPick=${setProject} options=${names.projects.map(({ id }) => ({ value: id, text: names.ofProject(id) }))} />
      <${TextField} label="Name" value=${name} autofocus=${true} onText=${setName} problem=${problemAt('/name')} />
      ${fields.map(
        ({
          key,
          label,
          required,
          helpText,
          defaultValue,
        }) => html`<${TextField} key=${key} label=${label} note=${required ? 'required' : 'optional'} hint=${helpText} placeholder=${defaultValue}
          value=${values[key] ?? ''} onText=${(text: string) => setValues((was) => withValue(was, key, text))} problem=${problemAt(`/fieldValues/${key}`)} />`,
      )}`}
  <//>`;
}

/** Leaves out empty texts, so that the default applies. */
function withValue(
  values: Readonly<Record<string, string>>,
  key: string,
  text: string,
): Readonly<Record<string, string>> {
  const { [key]: _, ...others } = values;
  return text === '' ? others : { ...others, [key]: text };
}
