// Package keepsake lets the scripts of mobs use a Keepsake service. Put it into
// modules/keepsake/, run `go generate` and build the server.
package keepsake

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/GoMudEngine/GoMud/internal/mobs"
	"github.com/GoMudEngine/GoMud/internal/mudlog"
	"github.com/GoMudEngine/GoMud/internal/plugins"
	"github.com/GoMudEngine/GoMud/internal/util"
)

var client = http.Client{Timeout: 2 * time.Minute}

func init() {
	plug := plugins.New(`keepsake`, `1.0`)
	plug.AddScriptingFunction(`Send`, func(mobInstanceId int, agent string, verb string, body string) {
		go send(mobInstanceId, agent, verb, body) // a script may take 50 ms
	})
}

func send(mobInstanceId int, agent string, verb string, body string) {
	address := os.Getenv(`KEEPSAKE`)
	if address == `` {
		address = `http://127.0.0.1:8765`
	}
	said, err := post(address+`/agents/`+agent+`/`+verb, body)
	if err != nil {
		mudlog.Error(`keepsake`, `verb`, verb, `error`, err)
		return
	}
	if said.Error != `` {
		mudlog.Error(`keepsake`, `verb`, verb, `error`, said.Error, `cure`, said.Cure)
		return
	}
	util.LockMud()
	defer util.UnlockMud()
	mob := mobs.GetInstance(mobInstanceId)
	if mob == nil {
		return // it left or died meanwhile
	}
	for _, gesture := range said.Gestures {
		mob.Command(`emote ` + oneCommand(gesture))
	}
	for _, line := range strings.Split(said.Text, "\n") {
		if line != `` {
			mob.Command(`say ` + oneCommand(line))
		}
	}
}

type answer struct {
	Text, Error, Cure string
	Gestures          []string
}

func post(address string, body string) (said answer, err error) {
	request, err := http.NewRequest(http.MethodPost, address, bytes.NewBufferString(body))
	if err != nil {
		return said, err
	}
	request.Header.Set(`Authorization`, `Bearer `+strings.TrimSpace(os.Getenv(`KEEPSAKE_TOKEN`)))
	request.Header.Set(`Content-Type`, `application/json`)
	response, err := client.Do(request)
	if err != nil {
		return said, err
	}
	defer response.Body.Close()
	return said, json.NewDecoder(response.Body).Decode(&said)
}

// oneCommand keeps a model's words from being several commands of the mob.
func oneCommand(words string) string {
	return strings.NewReplacer(`;`, `,`, "\n", ` `).Replace(words)
}
