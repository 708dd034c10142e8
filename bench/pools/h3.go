// A client of HTTP/3 for the mixed load: whole requests, those that are
// cancelled in the middle, slow readers, uploads, and connections that idle.
//
//     h3 ADDRESS SECONDS PATH...

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/lucas-clemente/quic-go"
	"github.com/lucas-clemente/quic-go/http3"
)

func main() {
	seconds, _ := strconv.Atoi(os.Args[2])
	end := time.Now().Add(time.Duration(seconds) * time.Second)

	var clients sync.WaitGroup

	for i := 0; i < 4; i++ {
		clients.Add(1)

		go func() {
			defer clients.Done()

			for time.Now().Before(end) {
				connection(os.Args[1], os.Args[3:])
			}
		}()
	}

	clients.Wait()
}

// One connection with a few dozen requests; some idle, some just vanish.

func connection(address string, paths []string) {
	names := []string{"main.test", "main.test", "other.test", ""}

	transport := &http3.RoundTripper{
		TLSClientConfig: &tls.Config{
			InsecureSkipVerify: true,
			ServerName:         names[rand.Intn(len(names))],
		},
		QuicConfig: &quic.Config{MaxIdleTimeout: 3 * time.Second},
	}

	var requests sync.WaitGroup

	for i := 0; i < 4; i++ {
		requests.Add(1)

		go func() {
			defer requests.Done()

			for n := rand.Intn(8); n > 0; n-- {
				request(transport, "https://"+address+
					paths[rand.Intn(len(paths))])
			}
		}()
	}

	requests.Wait()

	if rand.Intn(4) == 0 {
		time.Sleep(time.Duration(rand.Intn(2000)) * time.Millisecond)
	}

	transport.Close()
}

func request(transport *http3.RoundTripper, url string) {
	within := time.Duration(rand.Intn(400)) * time.Millisecond

	if rand.Intn(2) == 0 {
		within = 5 * time.Second
	}

	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()

	method, body := "GET", io.Reader(nil)

	if rand.Intn(4) == 0 {
		method, body = "POST", bytes.NewReader(make([]byte, rand.Intn(100000)))
	}

	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return
	}

	resp, err := transport.RoundTrip(req)
	if err != nil {
		return
	}

	defer resp.Body.Close()

	if rand.Intn(4) == 0 {
		io.CopyN(io.Discard, resp.Body, int64(rand.Intn(20000)))
		return
	}

	io.Copy(io.Discard, resp.Body)
}
