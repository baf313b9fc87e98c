"""The service over real HTTP: the verbs, tokens and their rights, streams, limits, the audit."""

import json
import signal
import stat

import httpx
import pytest

from keepsake.serve.tokens import Right, ServiceTokens
from tests.fakes.model_server import Reply

CHAT = "/v1/chat/completions"
SISTER = {"speaker": "Anneke", "words": "My sister Liesbet drowned.", "to": ["Mira"]}


def audit(service):
    files = sorted((service.folder / ".keepsake" / "events").glob("*.jsonl"))
    lines = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    return [each for each in lines if each["kind"] == "call"]


def test_the_verbs_work_and_outlive_a_restart(services):
    service = services()
    with service.client() as mira:
        assert mira.post("/mira/perceive", json=SISTER).json() == {"number": 1}
        gift = {"type": "deed", "actor": {"name": "Anneke", "id": "discord:1"}, "verb": "give"}
        assert mira.post("/mira/perceive", json=gift | {"objects": ["a cup"]}).is_success
        assert mira.post("/mira/perceive", json={"type": "sight", "shown": "It rains."}).is_success
        pose = {"type": "pose", "actor": "Tom", "gesture": "waves."}
        assert mira.post("/mira/perceive", json=pose).json() == {"number": 4}
        question = {"words": "What of my sister?", "by": "Anneke"}
        prompt = mira.post("/mira/prompt", json=question).json()
        assert "Liesbet drowned" in prompt["text"]
        assert prompt["messages"][0]["role"] == "system"
        answer = mira.post("/mira/answer", json=question).json()
        assert (answer["text"], answer["question"], answer["number"]) == ("Good day to you.", 5, 6)
        plan = mira.post("/mira/plans", json={"line": "light a candle"}).json()
        assert mira.post(f"/mira/plans/{plan['number']}/end", json={}).json()["state"] == "done"
        assert mira.get("/mira/plans", params={"ended": True}).json()[0]["what"] == "light a candle"
        assert mira.post("/mira/compact").json()["number"] == 0
        assert mira.post("/mira/undo").status_code == 409
    assert service.stop() == 0
    service = services()
    with service.client() as mira:
        found = mira.get("/mira/recall", params={"q": "Liesbet", "limit": 1}).json()
        assert found[0]["words"] == SISTER["words"]
        assert mira.get("/mira/status").json()["memories"] == 6
        assert {each["name"] for each in mira.get("/mira/people").json()} >= {"Anneke"}
        assert mira.get("/mira/summaries").json()["window"] == [1, 6]
        assert mira.post("/mira/forget", json={"person": "Tom"}).json()["memories"] == 1


def test_lines_of_an_answer_are_streamed(service, model):
    model.plan(CHAT, Reply("It is late.\nGood night."))
    with service.client() as mira:
        asked = {"words": "Well?", "by": "Anneke"}
        accept = {"Accept": "text/event-stream"}
        with mira.stream("POST", "/mira/answer", json=asked, headers=accept) as answer:
            text = "".join(answer.iter_text()).replace("\r", "")
        events = [dict(x.split(": ", 1) for x in e.split("\n")) for e in text.strip().split("\n\n")]
        assert [each["event"] for each in events] == ["line", "line", "answer"]
        assert json.loads(events[-1]["data"])["number"] == 2
        model.always(CHAT, Reply(status=400))
        with mira.stream("POST", "/mira/answer", json=asked, headers=accept) as answer:
            text = "".join(answer.iter_text())
        assert "event: error" in text
        assert '"cure"' in text


def test_a_token_reaches_its_own_agents_with_its_own_rights_alone(service):
    with service.client("mira", rights=[Right.READ]) as reader:
        listed = httpx.get(f"{service.address}/agents", headers=reader.headers)
        assert [each["name"] for each in listed.json()] == ["mira"]
        assert reader.get("/mira/status").is_success
        assert reader.post("/mira/perceive", json=SISTER).status_code == 403
        assert reader.post("/mira/forget", json={"person": "Anneke"}).status_code == 403
        others = [reader.get(f"/{name}/status") for name in ("bram", "nobody", "..", ".keepsake")]
        assert {each.status_code for each in others} <= {401, 404}
        assert others[0].json() == others[1].json()  # nobody learns which agents there are
        for path in ("mcp", "mcp/"):
            told = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            accept = {"Accept": "application/json, text/event-stream"}
            assert reader.post(f"/bram/{path}", json=told, headers=accept).status_code == 404
    with service.client("mira", rights=[Right.WRITE]) as writer:
        assert writer.post("/mira/perceive", json=SISTER).is_success
        for path in ("/mira/people", "/mira/summaries", "/mira/recall?q=Liesbet", "/mira/plans"):
            assert writer.get(path).status_code == 403
        assert writer.post("/mira/mcp/", json={}).status_code == 403
    with service.client("*") as everybody:
        listed = httpx.get(f"{service.address}/agents", headers=everybody.headers)
        assert len(listed.json()) == 2


def test_a_wrong_or_removed_token_is_refused(service):
    token = service.token()
    wrong = [{}, {"Authorization": "Bearer x"}, {"Authorization": f"Basic {token}"}]
    wrong += [{"Authorization": f"Bearer {token}x"}, {"Authorization": f"Bearer {token[:-1]}"}]
    for headers in wrong:
        answer = httpx.get(f"{service.address}/agents/mira/status", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
    good = {"Authorization": f"Bearer {token}"}
    assert httpx.get(f"{service.address}/agents", headers=good).is_success
    ServiceTokens(service.folder).remove(token)
    assert httpx.get(f"{service.address}/agents", headers=good).status_code == 401


def test_tokens_are_stored_as_hashes_and_for_their_owner_alone(service):
    token = service.token()
    stored = ServiceTokens(service.folder).path
    assert token.rsplit("_", maxsplit=1)[-1] not in stored.read_text()
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600


def test_what_is_too_much_is_refused(services):
    service = services(options=["--per-minute", "20"])
    with service.client() as mira:
        big = mira.post("/mira/perceive", content=b"x" * 300_000)
        assert big.status_code == 413
        chunked = mira.post("/mira/perceive", content=iter([b"{}"]))
        assert chunked.status_code == 413
        codes = [mira.get("/mira/status").status_code for _ in range(30)]
        assert codes.count(200) == 18
        assert codes[-1] == 429
        assert int(mira.get("/mira/status").headers["retry-after"]) > 0
    with service.client() as other:  # each token has its own count
        assert other.get("/mira/status").is_success


def test_the_audit_says_who_asked_for_what_without_words(service):
    with service.client() as mira:
        mira.post("/mira/perceive", json=SISTER)
        mira.get("/mira/recall", params={"q": "Liesbet"})
        mira.get("/bram/status")
    assert service.stop() == 0
    told = [(each["agent"], each["verb"], each["status"]) for each in audit(service)]
    wanted = [("mira", "POST perceive", 200), ("mira", "GET recall", 200)]
    assert told == [*wanted, ("bram", "GET status", 404)]
    assert all(each["token"] for each in audit(service))
    assert "Liesbet" not in json.dumps(audit(service))


def test_a_second_service_on_the_folder_is_refused(service, services):
    with pytest.raises(AssertionError, match="Another service"):
        services()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_answered_is_kept_when_the_service_ends(services, how):
    service = services()
    with service.client() as mira:
        number = mira.post("/mira/perceive", json=SISTER).json()["number"]
    service.stop(how)
    with services().client() as mira:
        assert mira.get("/mira/status").json()["memories"] == number


def test_the_openapi_names_every_verb_and_the_token(service):
    page = httpx.get(f"{service.address}/openapi.json").json()
    verbs = {path.rsplit("/", 1)[-1] for path in page["paths"]}
    wanted = {"perceive", "answer", "prompt", "recall", "plans", "people", "summaries", "status"}
    assert verbs >= wanted | {"compact", "undo", "forget", "end", "agents"}
    assert "HTTPBearer" in page["components"]["securitySchemes"]


def test_an_audience_is_named_by_name_or_id(service):
    told = {"name": "Anneke", "id": "discord:7"}
    secret = {"speaker": told, "words": "The key is under the mat.", "to": ["Mira"]}
    with service.client("mira") as client:
        client.post("/mira/perceive", json={**secret, "manner": "whisper"}).raise_for_status()

        def found(**audience):
            answer = client.get("/mira/recall", params={"q": "key mat", **audience})
            return [each["number"] for each in answer.raise_for_status().json()]

        assert found() == [1]
        assert found(audience_id="discord:7") == [1]
        assert found(audience_id=["discord:7", "discord:77"]) == []
        assert found(audience_id="discord:77") == []
        assert found(audience="Anneke") == [], "another person by that name alone"
        refused = client.get("/mira/recall", params={"q": "key", "audience_id": "a b"})
        assert refused.status_code == 422
