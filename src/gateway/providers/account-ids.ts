/**
 * What providers say of the operator's account. Ids with a form of their own count wherever they are; ids that a client may
 * have too, such as UUIDs, only after a word that names an account.
 */

const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

/** An id is not the end of a longer word. What comes before it may be an escaped character. */
const beginning = '(?:(?<![a-z0-9_-])|(?<=\\\\[nrt]|\\\\u[0-9a-f]{4}|%[0-9a-f]{2}))';

/** Ids whose form names an account. */
const ownForms = [
  // OpenAI (https://platform.openai.com/docs/api-reference/authentication), Moonshot, Groq
  `${beginning}(?:org-|proj_)[a-z0-9_-]+`,
  '(?<![a-z0-9_-])(?:org_|proj-|ak-)[a-z0-9]{16,64}(?![a-z0-9_-])',
  // OpenAI’s users and masked keys
  '(?<![a-z0-9_-])user-[a-z0-9]{20,64}(?![a-z0-9_-])',
  '(?<![a-z0-9_-])sk-[a-z0-9_-]{0,64}\\*{3,100}[a-z0-9]{0,16}',
  // Anthropic’s workspaces (https://docs.anthropic.com/en/api/admin-api/workspaces/list-workspaces)
  '(?<![a-z0-9_-])wrkspc_[a-z0-9]{8,64}',
  // AWS: names that contain an account's number, and ids of keys (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html)
  '(?<![a-z0-9])arn:aws[a-z-]{0,20}:[a-z0-9-]{0,40}:[a-z0-9-]{0,40}:\\d{6,16}:[^\\s"\'\\\\<>,;)]{1,400}',
  '(?<![a-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![a-z0-9])',
  // Azure: names of resources and paths of subscriptions
  '(?<![a-z0-9-])[a-z0-9-]{1,63}(?=\\.(?:openai|cognitiveservices|services\\.ai|azure-api)\\.(?:azure\\.|net\\b))',
  `(?<=/subscriptions/)${uuid}`,
  '(?<=/resourceGroups/)[^\\s/"\'\\\\<>,;)]{1,100}',
  // Google: service accounts, and paths of projects
  '(?<![a-z0-9._-])[a-z0-9._-]{1,64}@[a-z0-9-]{1,64}\\.iam\\.gserviceaccount\\.com',
  '(?<=(?<![a-z0-9])projects/)(?:\\d{6,20}(?!\\d)|[a-z0-9-]{1,63}(?=/(?:locations|publishers|endpoints)/))',
  '(?<=[?&]project=)[a-z0-9-]{1,63}',
  // Fireworks: its own account has the models that all may use
  '(?<=(?<![a-z0-9])accounts/)(?!fireworks/)[a-z0-9-]{1,63}(?=/(?:models|deployments|deployedModels)/)',
];

export const accountIds = ownForms.join('|');

const names = 'organi[sz]ation|org|account|acct|project|team|workspace|tenant|subscription|consumer|billing';
/** What is between a name and its id. JSON inside of a text has backslashes. */
const between = '[\\s:=("\'`’<\\[/\\\\#_-]';
const fillers = 'id|uuid|guid|number|name|with|is|s';
const idsOfForms = [
  uuid,
  '[0-9a-f]{24,64}',
  // A name of a tool may begin like one.
  '(?:org|proj|team|acct|acc|ws|tenant|user|account)[_-](?=[a-z_-]{0,99}\\d|[a-z0-9_-]{16})[a-z0-9_-]{4,100}',
  '\\d{9,20}',
  '[a-z0-9._%+-]{1,64}@[a-z0-9-]{1,63}\\.[a-z0-9.-]{2,63}',
];

/** An id after a word that names an account: `your organization (…)`, `team …`, `"account_id": "…"`. */
const named = new RegExp(
  `(?<![a-z0-9])((?:${names})s?(?:${between}{0,6}(?:${fillers})(?![a-z])){0,3}${between}{1,6})(?:${idsOfForms.join('|')})(?![a-z0-9])`,
  'giu',
);

/** Replaces an id after a word that names an account. */
export function redactNamedIds(text: string, replacement: string): string {
  return text.replace(named, `$1${replacement}`);
}

/** OpenRouter names the user that the key belongs to. */
const userId = /^user_[a-z0-9]{20,64}$/i;

export function isAccountMember(name: string, value: string): boolean {
  return value !== '' && ((name === 'user_id' && userId.test(value)) || isNamed(name, value));
}

function isNamed(name: string, value: string): boolean {
  // As it is written, `accountId` is one word.
  const words = name.replace(/(?<=[a-z])(?=[A-Z])/g, '_');
  const text = `${words}: ${value}`;
  return text.length < maxMemberLength && redactNamedIds(text, '') === `${words}: `;
}

const maxMemberLength = 300;
