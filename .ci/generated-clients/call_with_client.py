"""Calls the service with the client that openapi-python-client has made."""

import importlib
import os
import pkgutil

import client
from client import AuthenticatedClient
from client.api.flows import create_flow, get_flow, list_flows
from client.api.projects import create_project
from client.models import CreateFlowBody, CreateProjectBody, Flow, FlowType, Problem, ProblemCode, Project

modules = [module.name for module in pkgutil.walk_packages(client.__path__, "client.")]
for name in modules:
    importlib.import_module(name)

api = AuthenticatedClient(base_url=os.environ["API_URL"], token=os.environ["API_KEY"])
project = create_project.sync(client=api, body=CreateProjectBody(name="Generated"))
assert isinstance(project, Project), project
flow = create_flow.sync(
    project.id, client=api, body=CreateFlowBody(name="Opening hours", flow_schema={}, type_=FlowType.GRAPH)
)
assert isinstance(flow, Flow), flow
assert flow.type_ is FlowType.GRAPH, flow.type_
listed = list_flows.sync(project.id, client=api)
assert [one.id for one in listed.flows] == [flow.id], listed
missing = get_flow.sync("c" + "0" * 24, client=api)
assert isinstance(missing, Problem), missing
assert missing.code is ProblemCode.FLOW_NOT_FOUND, missing.code
print(f"imports {len(modules)} modules, makes, lists and misses a flow")
