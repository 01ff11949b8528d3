"""Claude Code's rarer tools: found by search, skills, schedules, worktrees, monitors, workflows, findings."""

from __future__ import annotations

from tests.lab.scenarios.claude_tools import ALL_TOOLS, HELLO
from tests.lab.words import Say, Scenario, Step, call, if_offered, reply

WORKFLOW = """export const meta = {
  name: 'look-twice',
  description: 'Two agents look, one after the other',
  phases: [{ title: 'Look' }, { title: 'Look again' }],
}
phase('Look')
const first = await agent('[looker] look around', {label: 'first', phase: 'Look'})
phase('Look again')
const [second, third] = await parallel([
  () => agent('[checker] look again', {label: 'second', phase: 'Look again'}),
  () => agent('[loser] fail', {label: 'third', phase: 'Look again'}).catch(e => 'failed'),
])
log('done looking')
return { first, second, third }
"""
FINDING = {
    "file": "src/app.py",
    "line": 2,
    "summary": "It returns one",
    "short_summary": "Returns one",
    "failure_scenario": "Any call",
    "category": "correctness",
    "verdict": "CONFIRMED",
}

DEFERRED = Scenario(
    name="deferred_tools",
    steps=(Step("please find the right tool"),),
    since="2.1.0",
    mcp=True,
    env={"ENABLE_TOOL_SEARCH": "true"},
    threads={
        "main": [
            reply(call("ToolSearch", query="select:mcp__lab__echo,WebFetch", max_results=5)),
            reply(call("mcp__lab__echo", text="found")),
            reply(call("ToolSearch", query="no such thing at all", max_results=5)),
        ]
    },
)

ODD = Scenario(
    name="odd_tools",
    steps=(Step("please try the rest"),),
    since="2.1.0",
    env=ALL_TOOLS,
    files={
        ".claude/skills/greet/SKILL.md": "---\nname: greet\ndescription: Greets\n---\nSay hello to $ARGUMENTS.\n"
    },
    threads={
        "main": [
            reply(if_offered(call("Skill", skill="greet", args="you"))),
            reply(if_offered(call("Skill", skill="absent"))),
            reply(if_offered(call("ListAgents")), if_offered(call("CronList"))),
            reply(if_offered(call("CronCreate", cron="7 3 * * *", prompt="check", recurring=True))),
            reply(if_offered(call("CronList"))),
            reply(if_offered(call("CronDelete", id="none"))),
            reply(if_offered(call("ReportFindings", findings=[FINDING], level="low"))),
            reply(if_offered(call("SendMessage", to="nobody", message="hello", summary="hello"))),
            reply(
                if_offered(
                    call("Monitor", command="echo tick; echo tock", description="Watch", timeout_ms=1500)
                )
            ),
            reply(call("Bash", command="sleep 1", description="Wait for the monitor")),
            reply(if_offered(call("EnterPlanMode"))),
        ]
    },
)

WORKTREE = Scenario(
    name="worktree",
    steps=(Step("please work in a worktree"),),
    since="2.1.0",
    env=ALL_TOOLS,
    git=True,
    files=HELLO,
    settings={"worktree": {"baseRef": "head"}},
    threads={
        "main": [
            reply(if_offered(call("EnterWorktree", name="side"))),
            reply(call("Bash", command="pwd; echo new > new.txt", description="Look where we are")),
            reply(if_offered(call("ExitWorktree", action="keep"))),
            reply(call("Bash", command="pwd", description="Look again")),
        ]
    },
)

ORCHESTRATED = Scenario(
    name="workflow",
    steps=(Step("please use a workflow, ultracode"),),
    since="2.1.150",
    env=ALL_TOOLS,
    files=HELLO,
    threads={
        "main": [
            reply(call("Workflow", script=WORKFLOW)),
            reply(call("Bash", command="sleep 2", description="Wait for the workflow")),
            reply(call("Workflow", script="no workflow at all")),
        ],
        "looker": [reply(call("Bash", command="ls", description="Look")), reply(Say("Nothing in sight."))],
        "checker": [reply(Say("Still nothing."))],
        "loser": [*[reply(status=400, error="This request is not good.")] * 5],
    },
)

ALL = (DEFERRED, ODD, WORKTREE, ORCHESTRATED)
