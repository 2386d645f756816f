import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { convertDeployment, type Deployment, faultOfName } from './convert-deployment.ts';
import { convertGroup, type DeploymentGroup, readCommonSettings } from './convert-models.ts';
import { Credentials } from './credentials.ts';
import { Fallbacks } from './fallbacks.ts';
import { ImportReport, type Remark, Section, visible } from './import-report.ts';
import { ProviderRegistry } from './provider-registry.ts';

/** A configuration of the gateway, with what is left out or different. */
export interface ImportedConfiguration {
  /** The configuration. It holds no secrets, and may have no models. */
  readonly configuration: { readonly providers: JsonObject; readonly models: JsonObject };
  readonly remarks: ReadonlyArray<Remark>;
}

/** Maximum number of targets in the result, because fallbacks repeat the targets of other models. */
const maxTargets = 50_000;

/** https://docs.litellm.ai/docs/proxy/configs */
export function convertConfiguration(value: JsonObject): ImportedConfiguration {
  const report = new ImportReport();
  const whole = new Section('', value, report);
  const registry = new ProviderRegistry();
  const credentials = new Credentials(whole.takeList('credential_list'), report);
  const context = { registry, credentials, report };
  const deployments = whole
    .takeList('model_list')
    .flatMap((each, index) => convertDeployment(each, `model_list[${index}]`, context) ?? []);
  credentials.nameUnused();
  notePrices(deployments, report);
  const groups: ReadonlyMap<string, DeploymentGroup> = Map.groupBy(deployments, ({ group }) => group);
  const models = convertModels(groups, whole, report);
  const providers = registry.configured(variablesIn(value), report);
  whole.takeSection('general_settings').nameOthers();
  whole.nameOthers();
  return { configuration: { providers, models }, remarks: report.remarks };
}

function convertModels(groups: ReadonlyMap<string, DeploymentGroup>, whole: Section, report: ImportReport): JsonObject {
  const [router, module] = [whole.takeSection('router_settings'), whole.takeSection('litellm_settings')];
  const common = readCommonSettings(router, module);
  const strategy = router.takeText('routing_strategy');
  if (strategy === 'simple-shuffle') router.note('routing_strategy', 'is what this gateway does: it draws by weight');
  else if (strategy !== undefined)
    router.leaveOut('routing_strategy', 'the gateway draws by weight, and knows no other strategy');
  const section = router.has('fallbacks') || router.has('default_fallbacks') ? router : module;
  if (section === router)
    for (const name of ['fallbacks', 'default_fallbacks'])
      if (module.take(name) !== undefined) module.leaveOut(name, 'router_settings has fallbacks, which are preferred');
  const fallbacks = new Fallbacks(section, report);
  const models = new Map<string, JsonObject>();
  let targets = 0;
  const entries = new Map(Array.from(groups, ([name, group]) => [name, convertGroup(group, common, report)]));
  /** @param own the model whose fallbacks it has */
  const add = (name: string, own: string, entry: JsonObject) => {
    const more = targets > maxTargets ? [] : [...listIn(entry.fallbacks), ...fallbacks.of(own, groups)];
    targets += listIn(entry.targets).length + more.length;
    if (targets > maxTargets) {
      report.leaveOut(
        'model_list',
        `the model ${visible(name)} is left out, because all models would have more than ${maxTargets} targets`,
      );
      return;
    }
    models.set(name, more.length === 0 ? entry : { ...entry, fallbacks: more });
  };
  for (const [name, entry] of entries) add(name, name, entry);
  for (const [alias, name] of aliasesIn(router, groups, report))
    add(alias, fallbacks.has(alias) ? alias : name, entries.get(name) ?? {});
  fallbacks.nameUnused(new Set(models.keys()));
  for (const each of [router, module]) each.nameOthers();
  return Object.fromEntries(models);
}

/** The name of each alias's model. */
function aliasesIn(
  router: Section,
  groups: ReadonlyMap<string, DeploymentGroup>,
  report: ImportReport,
): ReadonlyArray<readonly [alias: string, name: string]> {
  const aliases = router.takeSection('model_group_alias');
  return aliases.takeAll().flatMap(([alias, value]) => {
    const entry = new Section(aliases.placeOf(alias), isObject(value) ? value : { model: value }, report);
    const name = entry.take('model');
    const fault = faultOfAlias(alias, name, groups);
    if (fault !== null) {
      aliases.leaveOut(alias, fault);
      return [];
    }
    if (entry.take('hidden') !== undefined) entry.note('hidden', 'every model is in GET /v1/models');
    entry.nameOthers();
    return [[alias, name as string] as const];
  });
}

function faultOfAlias(
  alias: string,
  name: Json | undefined,
  groups: ReadonlyMap<string, DeploymentGroup>,
): string | null {
  if (typeof name !== 'string' || !groups.has(name)) return 'names no model of the converted configuration';
  return groups.has(alias) ? 'is the name of a model too' : faultOfName(alias);
}

function listIn(list: Json | undefined): ReadonlyArray<Json> {
  return Array.isArray(list) ? list : [];
}

function notePrices(deployments: ReadonlyArray<Deployment>, report: ImportReport): void {
  const without = deployments.filter(({ target }) => target.price === undefined).length;
  if (without > 0)
    report.note(
      'model_list',
      `${without} of ${deployments.length} deployments have no price: LiteLLM has a list of its own, and here calls cost what is written as price`,
    );
}

/** Variables that are named anywhere in the file, so that no new variable has such a name. */
function variablesIn(value: Json | undefined): ReadonlySet<string> {
  return new Set(Array.from(JSON.stringify(value ?? null).matchAll(/os\.environ\/(\w+)/g), ([, name = '']) => name));
}
