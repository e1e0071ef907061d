import { parseArgs } from 'node:util';
import { DocumentError, compileRules, explanationText, loadEdgeDocument, loadLimitsDocument } from '#libs/rules';
import { UsageError, runCli } from './run-cli.js';

const USAGE = `npm run explain -- (--tenant NAME [--user NAME] | --tier NAME | --anonymous) [--route NAME]
                  [--edge config/edge.yaml] [--limits config/limits.yaml]`;

await runCli(USAGE, [DocumentError], () => {
  const { values } = parseArgs({
    options: {
      tenant: { type: 'string' },
      user: { type: 'string' },
      tier: { type: 'string' },
      anonymous: { type: 'boolean', default: false },
      route: { type: 'string' },
      edge: { type: 'string', default: 'config/edge.yaml' },
      limits: { type: 'string', default: 'config/limits.yaml' },
    },
  });
  const { tenant, tier, user, anonymous } = values;
  if (anonymous === (tenant !== undefined || tier !== undefined)) throw new UsageError('give a tenant or a tier, or --anonymous');
  const rules = compileRules(loadEdgeDocument(values.edge), loadLimitsDocument(values.limits), undefined);
  const routes = values.route === undefined ? [...rules.routes.keys()] : [values.route];
  const [unknown] = routes.filter((route) => !rules.routes.has(route));
  if (unknown !== undefined) throw new UsageError(`no route is called ${unknown}; routes: ${[...rules.routes.keys()].join(', ')}`);
  process.stdout.write(`${routes.map((route) => explanationText(rules.explain({ route, tenant, tier, user, anonymous }))).join('\n\n')}\n`);
  return 0;
});
